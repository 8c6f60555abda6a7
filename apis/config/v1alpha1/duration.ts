const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;

/** Setting a Node timer beyond this many milliseconds makes it fire at once. */
const LONGEST = 2 ** 31 - 1;

/**
 * Milliseconds of a duration written as Go and Kubernetes write it: `500ms`, `10s`, `1h30m`, and `0` or `0s` for
 * none. Undefined when it is not one, or is longer than a timer can wait (24 days).
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!WHOLE.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    milliseconds += Number(amount) * (UNITS.get(unit ?? '') ?? Number.NaN);
  }
  milliseconds = Math.round(milliseconds);
  return milliseconds <= LONGEST ? milliseconds : undefined;
}

const WHOLE_PERIOD = /^(?:\d+[dhms])+$/;
const PERIOD_PART = /(\d+)([dhms])/g;
const LONGEST_PERIOD = 3650 * 86_400_000;

/**
 * Milliseconds of a period that is compared with clocks and never given to a timer, so that it may be long: `30d`,
 * `7d12h`, `90m`, at most ten years. Undefined when it is not one.
 */
export function parsePeriod(text: string): number | undefined {
  if (!WHOLE_PERIOD.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(PERIOD_PART)) {
    milliseconds += Number(amount) * (UNITS.get(unit ?? '') ?? Number.NaN);
  }
  return milliseconds <= LONGEST_PERIOD ? milliseconds : undefined;
}
