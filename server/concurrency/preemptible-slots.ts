import { orAborted } from './or-aborted.ts';
import { ByCaller } from './slots.ts';

export interface PreemptibleSlot extends Disposable {
  /** Aborted, with the error, when the slot is preempted. The holder still has to dispose of it. */
  readonly preempted: AbortSignal;
}

export interface SlotErrors {
  /** Without a free or preemptible slot. */
  readonly refusal: () => Error;
  /** For the holder of a preempted slot. */
  readonly preemption: () => Error;
}

interface Holder {
  readonly caller: string;
  readonly preempt: () => void;
}

/**
 * Slots for streams. When all slots are taken, a caller with fewer slots preempts the newest slot of the caller with the
 * most. So a single caller can use all slots, but cannot block others.
 */
export class PreemptibleSlots {
  readonly #count: number;
  readonly #errors: SlotErrors;
  /** Holders and waiting callers, without preempted ones. */
  readonly #holders = new ByCaller<Holder>();
  readonly #waiting = new Set<() => void>();
  #inUse = 0;

  constructor(count: number, errors: SlotErrors) {
    this.#count = count;
    this.#errors = errors;
  }

  /** Rejects with the refusal when no slot is available, with the signal's reason when aborted, and with the preemption when preempted while waiting. */
  async take(signal: AbortSignal, caller: string): Promise<PreemptibleSlot> {
    signal.throwIfAborted();
    this.#makeRoom(caller);
    const end = new AbortController();
    const holder = { caller, preempt: () => end.abort(this.#errors.preemption()) };
    this.#holders.add(caller, holder);
    try {
      if (this.#inUse < this.#count) this.#inUse++;
      else await this.#wait(AbortSignal.any([signal, end.signal]));
    } catch (error) {
      this.#holders.delete(caller, holder);
      throw error;
    }
    let isHeld = true;
    return {
      preempted: end.signal,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#holders.delete(caller, holder);
        this.#release();
      },
    };
  }

  #makeRoom(caller: string): void {
    if (this.#holders.size < this.#count) return;
    const excess = this.#holders.excessFor(caller);
    if (!excess) throw this.#errors.refusal();
    this.#holders.delete(excess.caller, excess);
    excess.preempt();
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await orAborted(promise, signal);
    } catch (error) {
      // A slot that was granted meanwhile goes to the next waiting caller.
      if (!this.#waiting.delete(resolve)) this.#release();
      throw error;
    }
  }

  #release(): void {
    for (const enter of this.#waiting) {
      this.#waiting.delete(enter);
      return enter();
    }
    this.#inUse--;
  }
}
