// Token bucket: a rate limit that allows bursts.
export interface TokenBucketOptions {
  /** Bucket size. */
  readonly burst: number;
  readonly perSecond: number;
  /** Monotonic ms. */
  readonly monotonic: () => number;
}

export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #refilledAt: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#refilledAt = options.monotonic();
  }

  /** Takes one token; returns false when there is none. */
  take(): boolean {
    const { burst, perSecond, monotonic } = this.#options;
    const now = monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#refilledAt) / 1000) * perSecond);
    this.#refilledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
