import { ByCaller } from './by-caller.ts';
import { orAborted } from './or-aborted.ts';

export interface Place extends Disposable {
  /** Aborted, with the reason, when somebody else gets it; it is still to be given back then. */
  readonly withdrawn: AbortSignal;
}

export interface PlaceErrors {
  /** For one who finds no place. */
  readonly refusal: () => Error;
  /** For one whose place somebody else gets. */
  readonly withdrawal: () => Error;
}

interface Taken {
  readonly caller: string;
  readonly withdraw: () => void;
}

/**
 * So many places for what lasts. Whoever comes gets one while there are any. When all are taken, one who has fewer than
 * others gets the last one of whoever has most, as soon as it is given back: so a single caller may have all of them, and
 * still keeps nobody out.
 */
export class Places {
  readonly #count: number;
  readonly #errors: PlaceErrors;
  /** Without those that were withdrawn, with those that are waited for. */
  readonly #taken = new ByCaller<Taken>();
  readonly #waiting = new Set<() => void>();
  #inUse = 0;

  constructor(count: number, errors: PlaceErrors) {
    this.#count = count;
    this.#errors = errors;
  }

  /** Rejects with the refusal, with the reason of the signal, or with the withdrawal where it is withdrawn again before. */
  async take(signal: AbortSignal, caller: string): Promise<Place> {
    signal.throwIfAborted();
    this.#makeRoom(caller);
    const end = new AbortController();
    const taken = { caller, withdraw: () => end.abort(this.#errors.withdrawal()) };
    this.#taken.add(caller, taken);
    try {
      if (this.#inUse < this.#count) this.#inUse++;
      else await this.#turn(AbortSignal.any([signal, end.signal]));
    } catch (error) {
      this.#taken.delete(caller, taken);
      throw error;
    }
    let isHeld = true;
    return {
      withdrawn: end.signal,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#taken.delete(caller, taken);
        this.#giveBack();
      },
    };
  }

  #makeRoom(caller: string): void {
    if (this.#taken.size < this.#count) return;
    const excess = this.#taken.excessFor(caller);
    if (!excess) throw this.#errors.refusal();
    this.#taken.delete(excess.caller, excess);
    excess.withdraw();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await orAborted(promise, signal);
    } catch (error) {
      // One that was given meanwhile goes to the next.
      if (!this.#waiting.delete(resolve)) this.#giveBack();
      throw error;
    }
  }

  #giveBack(): void {
    for (const enter of this.#waiting) {
      this.#waiting.delete(enter);
      return enter();
    }
    this.#inUse--;
  }
}
