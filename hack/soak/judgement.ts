// Judgement of a measured series: flat or growing. A series grows only if two robust measures exceed its limit: the
// difference of medians and the Theil–Sen slope. Outliers change neither.
import { median, type Point, theilSen } from '../bench/measuring/statistics.ts';

/** Growth that is tolerated: a share of the first median, and at least a fixed amount. */
export interface Limit {
  readonly share: number;
  readonly least: number;
  /**
   * Judges the least value in each window of this length, in seconds. For a heap: garbage collections become rarer, so its
   * median grows without a leak.
   */
  readonly leastWithin?: number;
}

export interface Judgement {
  readonly verdict: 'FLAT' | 'GROWING' | 'TOO SHORT';
  /** Medians of the first and the last quarter, of the least values if the limit says so. */
  readonly first: number;
  readonly last: number;
  /** Theil–Sen slope: the median of the slopes between pairs of points. */
  readonly perHour: number;
  readonly limit: number;
}

/** Fewer points after the warm-up are not judged. */
const MIN_POINTS = 6;

/** Caches, pools and compiled code grow at first: a fifth of the run, at least five minutes, at most half of the run. */
export function warmUpSeconds(duration: number): number {
  return Math.min(duration / 2, Math.max(duration / 5, 300));
}

/** `all`: the points in the order of time, without the warm-up. */
export function judge(all: readonly Point[], { share, least, leastWithin }: Limit): Judgement {
  const points = leastWithin === undefined ? all : leastPoints(all, leastWithin);
  const quarter = Math.max(1, Math.floor(points.length / 4));
  const first = median(points.slice(0, quarter).map(({ value }) => value));
  const last = median(points.slice(-quarter).map(({ value }) => value));
  const slope = theilSen(points);
  const limit = Math.max(first * share, least);
  const span = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  const grows = last - first > limit && slope * span > limit;
  const verdict = points.length < MIN_POINTS ? 'TOO SHORT' : grows ? 'GROWING' : 'FLAT';
  return { verdict, first, last, perHour: slope * 3600, limit };
}

/** The point with the least value of each window. */
function leastPoints(points: readonly Point[], seconds: number): Point[] {
  const windows = Map.groupBy(points, ({ at }) => Math.floor(at / seconds));
  return [...windows.values()].map((window) =>
    window.reduce((least, point) => (point.value < least.value ? point : least)),
  );
}
