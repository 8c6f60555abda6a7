// Functions that compute medians, quantiles and slopes, and run the measurements of several servers alternately.
/** The median. For an even number of values, the lower of the two middle values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The quantile: the smallest value such that at least `share` of all values are less or equal. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export interface Point {
  /** Seconds since the start of a run. */
  readonly at: number;
  readonly value: number;
}

/** Points of which all pairs are compared. */
const MAX_POINTS = 240;

/** The Theil–Sen slope, per second: the median of the slopes between pairs of points. */
export function theilSen(points: readonly Point[]): number {
  const every = Math.ceil(points.length / MAX_POINTS);
  const compared = points.filter((_, index) => index % every === 0);
  const slopes = compared.flatMap((one, index) =>
    compared.slice(index + 1).map((other) => (other.value - one.value) / (other.at - one.at)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Measures the sides alternately, so that disturbances affect all sides. Every second round is in reverse order. */
export async function interleaved<Side extends string, Result>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<Result>>>,
): Promise<Record<Side, Result[]>> {
  const names = Object.keys(sides) as Side[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Side, Result[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      results[name].push(await sides[name]());
    }
  }
  return results;
}
