export interface BackoffOptions {
  /** Bound of the first delay, in ms. */
  readonly initialMs: number;
  /** Maximum delay, in ms. */
  readonly maxMs: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** Exponential backoff with jitter: each delay is drawn between half of its bound and the bound. */
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

  /** Call after a success. */
  reset(): void {
    this.#attempts = 0;
  }
}
