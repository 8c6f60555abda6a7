// The width of the buckets of a histogram.

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];
/** In seconds: whole parts of the next larger unit. */
const INTERVALS = [
  ...[1, 2, 5, 10, 30],
  ...[1, 2, 5, 10, 30].map((count) => count * MINUTE),
  ...[1, 3, 12].map((count) => count * HOUR),
  ...[1, 7, 30, 365].map((count) => count * DAY),
];
const LONGEST = 3_650 * DAY;

/** The shortest round interval with which a range has at most as many buckets. All are in seconds. */
export function intervalOf(range: number, buckets: number): number {
  return INTERVALS.find((each) => range <= each * buckets) ?? LONGEST;
}
