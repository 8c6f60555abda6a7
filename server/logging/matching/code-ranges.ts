// Sets of characters, as ranges of their code points.

/** First and last code point, inclusive. */
export type Range = readonly [first: number, last: number];

const MAX_CODE = 0x10ffff;

export const ALL_CODES: Range = [0, MAX_CODE];

/** Ascending, without overlaps. Ranges that only touch stay apart. */
export function withoutOverlaps(ranges: readonly Range[]): Range[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1);
    if (previous && first <= previous[1]) previous[1] = Math.max(previous[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** Ascending, with a gap between any two. */
export function joined(ranges: readonly Range[]): Range[] {
  const merged: [number, number][] = [];
  for (const [first, last] of withoutOverlaps(ranges)) {
    const previous = merged.at(-1);
    if (previous && first === previous[1] + 1) previous[1] = last;
    else merged.push([first, last]);
  }
  return merged;
}

/** What is in none of the ranges, which are ascending and without overlaps. */
export function complement(ranges: readonly Range[]): Range[] {
  const ends = [-1, ...ranges.map(([, last]) => last)];
  const begins = [...ranges.map(([first]) => first), MAX_CODE + 1];
  return ends
    .map((end, index): Range => [end + 1, (begins[index] ?? 0) - 1])
    .filter(([first, last]) => first <= last);
}
