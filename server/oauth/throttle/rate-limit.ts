// Rate limit by key: a bucket of tokens for each key, which allows bursts.
import { LRUCache } from 'lru-cache';

interface RateLimitOptions {
  /** Size of a bucket. */
  readonly burst: number;
  readonly perSecond: number;
  /** Maximum number of keys. A full limit drops the bucket from which a token was taken longest ago. */
  readonly keys: number;
  /** Monotonic ms. */
  readonly monotonic: () => number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(options: RateLimitOptions) {
    this.#options = options;
    this.#buckets = new LRUCache({ max: options.keys });
  }

  /** Takes a token of the key; returns false when there is none. */
  take(key: string): boolean {
    const { burst, perSecond, monotonic } = this.#options;
    const at = monotonic();
    const known = this.#buckets.get(key) ?? { tokens: burst, at };
    const tokens = Math.min(burst, known.tokens + ((at - known.at) / 1000) * perSecond);
    const isAllowed = tokens >= 1;
    this.#buckets.set(key, { tokens: isAllowed ? tokens - 1 : tokens, at });
    return isAllowed;
  }
}
