export interface BackoffOptions {
  /** The first wait, in ms. */
  readonly initialMs: number;
  /** No wait is longer, in ms. */
  readonly maxMs: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** Waits that double up to a bound, each drawn between half of it and all of it so that clients do not march in step. */
export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The wait before the next attempt, in ms. */
  next(): number {
    const { initialMs, maxMs, random } = this.#options;
    const bound = Math.min(maxMs, initialMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts++;
    return bound * (0.5 + random() / 2);
  }

  /** After things went well for a while. */
  reset(): void {
    this.#attempts = 0;
  }
}
