import { hash } from 'node:crypto';
import { Bucket, type BucketLimits } from './bucket.ts';

/** How many buckets the overflow has: enough that two accounts under attack rarely share one. */
const SHARED = 1024;
const SWEEP_MS = 60_000;

/**
 * Buckets by key, bounded in number. A flood of new names evicts only buckets that do not delay anybody yet; one that
 * does is never evicted. When nothing can be evicted, new keys share the buckets of an overflow, where strangers may be
 * delayed together but no failure goes uncounted.
 */
export class BucketTable {
  readonly #capacity: number;
  /** In the order in which they were made. */
  readonly #quiet = new Map<string, Bucket>();
  readonly #delaying = new Map<string, Bucket>();
  readonly #overflow = new Map<string, Bucket>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#quiet.size + this.#delaying.size;
  }

  /** How many hold something at this time; drops those whose failures have been forgotten, so it looks at all. */
  count(now: number): number {
    for (const buckets of [this.#quiet, this.#delaying])
      for (const [key, bucket] of buckets) if (bucket.isEmpty(now)) buckets.delete(key);
    return this.size;
  }

  /** The bucket of a key, made when there is none. */
  take(key: string, limits: BucketLimits, now: number): Bucket {
    const known = this.get(key);
    if (known) return known;
    if (this.size >= this.#capacity && !this.#makeRoom(now)) return this.#shared(key, limits);
    const bucket = new Bucket(limits);
    this.#quiet.set(key, bucket);
    return bucket;
  }

  /** Ms until an attempt of this key may begin; 0 when it may now. Makes no bucket. */
  remaining(key: string, limits: BucketLimits, now: number): number {
    const bucket = this.get(key) ?? this.#overflow.get(slotOf(key, limits));
    return bucket?.remaining(now) ?? 0;
  }

  /** Counts an attempt whose outcome was known at once. */
  fail(key: string, limits: BucketLimits, now: number): void {
    const bucket = this.take(key, limits, now);
    bucket.begin();
    bucket.fail(now);
    this.settle(key, now);
  }

  /** The key's own bucket. */
  get(key: string): Bucket | undefined {
    return this.#delaying.get(key) ?? this.#quiet.get(key);
  }

  /** Forgets everything. Attempts under way end in buckets that are no longer used. */
  clear(): void {
    for (const buckets of [this.#quiet, this.#delaying, this.#overflow]) buckets.clear();
  }

  /** To be called when the bucket of this key has changed: puts it where it belongs, or drops it. */
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

  #makeRoom(now: number): boolean {
    for (const [key, bucket] of this.#quiet) {
      // Those with attempts under way stay; there are never more of them than attempts.
      if (bucket.pending > 0) continue;
      this.#quiet.delete(key);
      return true;
    }
    if (now - this.#sweptAt < SWEEP_MS) return false;
    this.#sweptAt = now;
    for (const key of this.#delaying.keys()) this.settle(key, now);
    return this.size < this.#capacity;
  }

  #shared(key: string, limits: BucketLimits): Bucket {
    const slot = slotOf(key, limits);
    let bucket = this.#overflow.get(slot);
    if (!bucket) {
      bucket = new Bucket(limits);
      this.#overflow.set(slot, bucket);
    }
    return bucket;
  }
}

/** Separate for each set of limits: accounts and sources do not mix. */
function slotOf(key: string, limits: BucketLimits): string {
  const place = hash('sha256', key, 'buffer').readUInt16BE(0) % SHARED;
  return `${limits.failures}/${limits.maxDelay}/${place}`;
}
