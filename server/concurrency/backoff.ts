// Computes exponential backoff for retries.
interface BackoffOptions {
  /** Maximum of the first delay, in ms. It doubles with each attempt. */
  readonly initialMs: number;
  /** Maximum of all delays, in ms. */
  readonly maxMs: number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive), such as Math.random. */
  readonly random: () => number;
}

/** Exponential backoff with jitter: each delay is random, between half of its maximum and its maximum. */
export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Returns the delay before the next attempt, in ms. */
  next(): number {
    const { initialMs, maxMs, random } = this.#options;
    const bound = Math.min(maxMs, initialMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts++;
    return bound * (0.5 + random() / 2);
  }

  /** Starts again at the first delay, after a success. */
  reset(): void {
    this.#attempts = 0;
  }
}
