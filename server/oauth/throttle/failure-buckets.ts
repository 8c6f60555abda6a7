// Counts failed sign-in attempts by account and source address, in a bounded table. Entries that delay attempts are
// never evicted, so a flood of new keys removes no delay.
import { hash } from 'node:crypto';

/** Limits of failed attempts: when delays begin, and how they grow. Times in ms. */
export interface DelayLimits {
  /** Failures before the first delay. */
  readonly failures: number;
  /** The first delay; each further failure doubles it. */
  readonly delay: number;
  readonly maxDelay: number;
  /** Time without a failure after which all failures expire. */
  readonly reset: number;
}

/** State of a bucket, as replicas share it. Times in ms since the epoch. */
export interface Failures {
  readonly failures: number;
  readonly lastAt: number;
}

/**
 * Failed and pending attempts of one key. An attempt is pending while its password is verified. Pending attempts count as
 * failures, so parallel attempts allow no more guesses than sequential ones.
 */
export class FailureBucket {
  readonly limits: DelayLimits;
  #failures = 0;
  #pending = 0;
  #lastAt = 0;

  constructor(limits: DelayLimits) {
    this.limits = limits;
  }

  get pending(): number {
    return this.#pending;
  }

  state(now: number): Failures {
    this.#expire(now);
    return { failures: this.#failures, lastAt: this.#lastAt };
  }

  /** Ms until an attempt may begin; 0 when it may begin now. */
  remaining(now: number): number {
    this.#expire(now);
    const excess = this.#failures - this.limits.failures;
    if (excess < 0) return 0;
    const delay = Math.min(this.limits.maxDelay, this.limits.delay * 2 ** Math.min(excess, 40));
    return Math.max(0, this.#lastAt + delay - now);
  }

  /** Whether the pending attempts would reach the limit if all of them failed. */
  get full(): boolean {
    return this.#pending >= Math.max(1, this.limits.failures - this.#failures);
  }

  isDelaying(now: number): boolean {
    this.#expire(now);
    return this.#failures >= this.limits.failures;
  }

  isEmpty(now: number): boolean {
    this.#expire(now);
    return this.#pending === 0 && this.#failures === 0;
  }

  begin(): void {
    this.#pending++;
  }

  /** Ends an attempt that succeeded or was cancelled. */
  release(): void {
    this.#pending--;
  }

  /** Ends an attempt that failed. */
  fail(now: number): void {
    this.#expire(now);
    this.#pending--;
    this.#failures++;
    this.#lastAt = Math.max(this.#lastAt, now);
  }

  /** Removes all failures. */
  clear(): void {
    this.#failures = 0;
  }

  /** Merges the state of another replica: the higher values win. Zero failures remove the failures up to `lastAt`. */
  merge({ failures, lastAt }: Failures): void {
    if (failures === 0 && lastAt >= this.#lastAt) this.clear();
    this.#failures = Math.max(this.#failures, failures);
    this.#lastAt = Math.max(this.#lastAt, lastAt);
  }

  #expire(now: number): void {
    // A time in the future comes from a clock that was set back, or from a replica whose clock is ahead.
    this.#lastAt = Math.min(this.#lastAt, now);
    if (this.#failures > 0 && now - this.#lastAt > this.limits.reset) this.#failures = 0;
  }
}

/** Number of overflow buckets: enough that two attacked accounts rarely share one. */
const OVERFLOW_BUCKETS = 1024;
const SWEEP_INTERVAL_MS = 60_000;

/**
 * Buckets by key. When the table is full, a new key evicts a bucket that does not delay. If all buckets delay, new keys
 * share overflow buckets: unrelated keys may be delayed together, but every failure counts.
 */
export class FailureBuckets {
  readonly #capacity: number;
  /** Buckets that do not delay, in insertion order. */
  readonly #quiet = new Map<string, FailureBucket>();
  readonly #delaying = new Map<string, FailureBucket>();
  readonly #overflow = new Map<string, FailureBucket>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#quiet.size + this.#delaying.size;
  }

  /** Number of buckets with failures or pending attempts. Drops expired buckets; takes linear time. */
  count(now: number): number {
    for (const buckets of [this.#quiet, this.#delaying])
      for (const [key, bucket] of buckets) if (bucket.isEmpty(now)) buckets.delete(key);
    return this.size;
  }

  /** The bucket of a key; creates one if there is none. */
  take(key: string, limits: DelayLimits, now: number): FailureBucket {
    const found = this.get(key);
    if (found) return found;
    if (this.size >= this.#capacity && !this.#evict(now)) return this.#overflowBucket(key, limits);
    const bucket = new FailureBucket(limits);
    this.#quiet.set(key, bucket);
    return bucket;
  }

  /** Ms until an attempt of this key may begin; 0 when it may begin now. Creates no bucket. */
  remaining(key: string, limits: DelayLimits, now: number): number {
    const bucket = this.get(key) ?? this.#overflow.get(overflowKey(key, limits));
    return bucket?.remaining(now) ?? 0;
  }

  /** Counts a failed attempt that was never pending. */
  fail(key: string, limits: DelayLimits, now: number): void {
    const bucket = this.take(key, limits, now);
    bucket.begin();
    bucket.fail(now);
    this.settle(key, now);
  }

  /** The bucket of a key, without the overflow buckets. */
  get(key: string): FailureBucket | undefined {
    return this.#delaying.get(key) ?? this.#quiet.get(key);
  }

  /** Removes all buckets. Pending attempts end in buckets that are no longer used. */
  clear(): void {
    for (const buckets of [this.#quiet, this.#delaying, this.#overflow]) buckets.clear();
  }

  /** Moves the bucket to the map that matches its state, or removes an empty bucket. To be called after each change. */
  settle(key: string, now: number): void {
    const bucket = this.get(key);
    if (!bucket) return;
    const delaying = bucket.isDelaying(now);
    if (bucket.isEmpty(now)) {
      this.#quiet.delete(key);
      this.#delaying.delete(key);
    } else if (delaying && !this.#delaying.has(key)) {
      this.#quiet.delete(key);
      this.#delaying.set(key, bucket);
    } else if (!delaying && this.#delaying.delete(key)) {
      this.#quiet.set(key, bucket);
    }
  }

  #evict(now: number): boolean {
    for (const [key, bucket] of this.#quiet) {
      // Buckets with pending attempts stay. Their number is bounded, because pending attempts are.
      if (bucket.pending > 0) continue;
      this.#quiet.delete(key);
      return true;
    }
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return false;
    this.#sweptAt = now;
    for (const key of this.#delaying.keys()) this.settle(key, now);
    return this.size < this.#capacity;
  }

  #overflowBucket(key: string, limits: DelayLimits): FailureBucket {
    const slot = overflowKey(key, limits);
    let bucket = this.#overflow.get(slot);
    if (!bucket) {
      bucket = new FailureBucket(limits);
      this.#overflow.set(slot, bucket);
    }
    return bucket;
  }
}

/** The key includes the limits, so that accounts and sources never share a bucket. */
function overflowKey(key: string, limits: DelayLimits): string {
  const index = hash('sha256', key, 'buffer').readUInt16BE(0) % OVERFLOW_BUCKETS;
  return `${limits.failures}/${limits.maxDelay}/${index}`;
}
