// Counts of log lines by histogram bucket. Stores count in cells: time intervals of equal width. A bucket is a sum of cells.

import { bySeverity, type Severity } from '../../../apis/logging/v1alpha2/log-query.ts';
import { earlier, instantOf, later } from '../store/instant.ts';
import type { Buckets, Instant, Selection, SeverityCounts } from '../store/log-store.ts';

/** Counts of lines by histogram bucket. */
export class BucketCounts {
  readonly counts: number[];
  readonly #edges: readonly Instant[];

  constructor({ edges }: Buckets) {
    this.#edges = edges.map(instantOf);
    this.counts = edges.slice(1).map(() => 0);
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** Adds lines to the bucket of a time. Returns false for a time outside all buckets. */
  add(time: Instant, lines = 1): boolean {
    const bucket = this.#find(time);
    const count = this.counts[bucket];
    if (count === undefined) return false;
    this.counts[bucket] = count + lines;
    return true;
  }

  /** Finds a bucket by binary search; returns -1 or the number of buckets for a time outside. */
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

/** Counts of lines by severity and histogram bucket. */
export class CountsBySeverity {
  readonly #counts: Readonly<Record<Severity, BucketCounts>>;

  constructor(buckets: Buckets) {
    this.#counts = bySeverity(() => new BucketCounts(buckets));
  }

  add(severity: Severity, time: Instant, lines = 1): void {
    this.#counts[severity].add(time, lines);
  }

  get counts(): SeverityCounts {
    return bySeverity((severity) => this.#counts[severity].counts);
  }
}

/** The part of the range that the buckets cover; can be empty. */
export function bucketRange({ start, end }: Selection['range'], { edges }: Buckets): Selection['range'] {
  return {
    start: later(start, instantOf(edges[0] ?? 0)),
    end: earlier(end, instantOf(edges.at(-1) ?? 0)),
  };
}

/**
 * Stores can only count in cells of equal width. The buckets are sums of cells whose width is the greatest common divisor of
 * the widths of the buckets. `offset`: start of a cell. Both in ms.
 */
export function cellsOf({ edges }: Buckets): { readonly width: number; readonly offset: number } {
  let width = 0;
  for (let index = 1; index < edges.length; index++) {
    let rest = (edges[index] ?? 0) - (edges[index - 1] ?? 0);
    while (rest !== 0) [width, rest] = [rest, width % rest];
  }
  width = Math.max(1, width);
  return { width, offset: (((edges[0] ?? 0) % width) + width) % width };
}
