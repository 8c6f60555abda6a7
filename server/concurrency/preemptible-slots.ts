// Semaphore that limits concurrent streams. If no slot is free, the caller that holds the most slots loses one of its
// streams to the new stream.
import { orAborted } from './or-aborted.ts';
import { ByCaller } from './slots.ts';

export interface PreemptibleSlot extends Disposable {
  /** Aborted with the error of `preemption` when the slot is preempted. The holder must then dispose of the slot. */
  readonly preempted: AbortSignal;
}

export interface SlotErrors {
  /** Creates the error for a caller without a free or preemptible slot. */
  readonly refusal: () => Error;
  /** Creates the error for the holder of a preempted slot. */
  readonly preemption: () => Error;
}

interface Holder {
  readonly caller: string;
  readonly preempt: () => void;
}

/**
 * Slots for streams. When all slots are in use, a caller with fewer slots preempts the newest slot of the caller with the most. So
 * one caller can use all slots, but cannot block other callers.
 */
export class PreemptibleSlots {
  readonly #count: number;
  readonly #errors: SlotErrors;
  /** Requests that have a slot or wait for one, without preempted ones. */
  readonly #holders = new ByCaller<Holder>();
  readonly #waiting = new Set<() => void>();
  #inUse = 0;

  constructor(count: number, errors: SlotErrors) {
    this.#count = count;
    this.#errors = errors;
  }

  /**
   * Resolves with a slot. Rejects with the error of `refusal` if no slot is available, with the reason of `signal` if it is aborted,
   * and with the error of `preemption` if the request is preempted while it waits.
   */
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
      // If a slot was granted before the error, it goes to the next waiting request.
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
