import { instantOf } from '../instant.ts';
import type { Buckets, Instant } from '../log-store.ts';

/** How many lines there are in each bucket. */
export class BucketCounts {
  readonly counts: number[];
  readonly #edges: readonly Instant[];
  #at = 0;

  private constructor(edges: readonly Instant[]) {
    this.#edges = edges;
    this.counts = Array<number>(Math.max(0, edges.length - 1)).fill(0);
  }

  static of({ edges }: Buckets): BucketCounts {
    return new BucketCounts(edges.map(instantOf));
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** The same buckets, without lines. */
  empty(): BucketCounts {
    return new BucketCounts(this.#edges);
  }

  /** False for lines before the first edge, and from the last one on, which do not count. */
  add(time: Instant, lines = 1): boolean {
    // A line usually falls into the bucket of the previous one.
    if (!this.#holds(this.#at, time)) this.#at = this.#find(time);
    const count = this.counts[this.#at];
    if (count === undefined) return false;
    this.counts[this.#at] = count + lines;
    return true;
  }

  merge(other: BucketCounts): void {
    for (const [index, count] of other.counts.entries())
      this.counts[index] = (this.counts[index] ?? 0) + count;
  }

  #holds(bucket: number, time: Instant): boolean {
    const [begin, end] = [this.#edges[bucket], this.#edges[bucket + 1]];
    return begin !== undefined && end !== undefined && begin <= time && time < end;
  }

  /** -1 before the first edge, one more than there are buckets behind the last. */
  #find(time: Instant): number {
    let [low, high] = [0, this.#edges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#edges[middle] ?? '') <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
