import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';

export interface SlotsOptions {
  /** For the caller who is refused, for instance "log queries". */
  readonly what: string;
  readonly slots: number;
  /** Who may wait for a slot; 0 is nobody. */
  readonly queue: number;
  /** How long, in ms. */
  readonly waitMs: number;
  /** Seconds after which a caller who is refused may come again. */
  readonly retryAfterSeconds: number;
  /** Over how many seconds those who are refused one after the other are spread; 1 when none is given. */
  readonly retrySpreadSeconds?: number;
}

interface Waiting {
  readonly enter: () => void;
}

/** Limits concurrent work; first come, first served. */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #queue = new Set<Waiting>();
  #taken = 0;
  #refused = 0;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Resolves with the function that gives the slot back. Rejects with TooManyRequests when the queue is full or no slot
   * became free in time, and with the signal's reason when it is aborted first.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken < this.#options.slots) this.#taken++;
    else await this.#wait(signal);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#leave();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#queue.size >= this.#options.queue) throw this.#refusal();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', gone);
        this.#queue.delete(waiting);
      };
      const waiting: Waiting = {
        enter: () => {
          settle();
          resolve();
        },
      };
      const gone = (): void => {
        settle();
        reject(signal.reason as Error);
      };
      const timer = setTimeout(() => {
        settle();
        reject(this.#refusal());
      }, this.#options.waitMs);
      signal.addEventListener('abort', gone, { once: true });
      this.#queue.add(waiting);
    });
  }

  /** Whoever has waited longest takes the slot over. */
  #leave(): void {
    const next = this.#queue.values().next();
    if (next.done) this.#taken--;
    else next.value.enter();
  }

  #refusal(): Error {
    const { what, retryAfterSeconds, retrySpreadSeconds = 1 } = this.#options;
    // Many may be refused at once; they must not all retry at once.
    const seconds = retryAfterSeconds + (this.#refused++ % retrySpreadSeconds);
    return newTooManyRequests(`too many ${what} at a time, please try again later`, seconds);
  }
}
