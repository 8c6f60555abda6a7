export interface TokenBucketOptions {
  /** The most that pass at once. */
  readonly burst: number;
  readonly perSecond: number;
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

/** Allows a steady rate, and a burst after a quiet time. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #left: number;
  #at: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#left = options.burst;
    this.#at = options.monotonic();
  }

  /** False when it is empty. */
  take(): boolean {
    const { burst, perSecond, monotonic } = this.#options;
    const now = monotonic();
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
