// Limits of concurrent requests and streams, in total and for each caller.
import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';

/** 0: no limit. */
export interface CallerLimit {
  readonly total: number;
  readonly perCaller: number;
}

export class CallerLimits {
  readonly #limit: CallerLimit;
  readonly #what: string;
  readonly #callers = new Map<string, number>();
  #open = 0;

  /** `what`: `requests` or `streams`, for the error. */
  constructor(what: string, limit: CallerLimit) {
    this.#what = what;
    this.#limit = limit;
  }

  get open(): number {
    return this.#open;
  }

  /** Counts a request until the result is disposed. Throws TooManyRequests beyond a limit. */
  take(caller: string): Disposable {
    const { total, perCaller } = this.#limit;
    const own = this.#callers.get(caller) ?? 0;
    if (perCaller > 0 && own >= perCaller) {
      throw newTooManyRequests(`the caller has ${own} concurrent ${this.#what}, which is the limit`, 1);
    }
    if (total > 0 && this.#open >= total) {
      throw newTooManyRequests(
        `the gateway has ${this.#open} concurrent ${this.#what}, which is the limit`,
        1,
      );
    }
    this.#open++;
    this.#callers.set(caller, own + 1);
    return { [Symbol.dispose]: () => this.#release(caller) };
  }

  #release(caller: string): void {
    this.#open--;
    const left = (this.#callers.get(caller) ?? 1) - 1;
    if (left > 0) this.#callers.set(caller, left);
    else this.#callers.delete(caller);
  }
}
