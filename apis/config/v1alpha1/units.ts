// Parsers of durations, periods and quantities in the configuration file.
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;

/** Node timers with a longer delay fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Parses a duration in Go's notation, such as `500ms`, `10s`, `1h30m` or `0`, to milliseconds. Returns undefined for
 * invalid text, and for durations above the maximum of a Node timer (24 days).
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!WHOLE.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    milliseconds += Number(amount) * (UNITS.get(unit ?? '') ?? Number.NaN);
  }
  milliseconds = Math.round(milliseconds);
  return milliseconds <= MAX_TIMER_MS ? milliseconds : undefined;
}

const WHOLE_PERIOD = /^(?:\d+[dhms])+$/;
const PERIOD_PART = /(\d+)([dhms])/g;
const MAX_PERIOD_MS = 3650 * 86_400_000;

/**
 * Parses a period, such as `30d`, `7d12h` or `90m`, to milliseconds. Returns undefined for invalid text, and above ten
 * years. Periods may exceed the maximum of a timer, because they are compared with clocks.
 */
export function parsePeriod(text: string): number | undefined {
  if (!WHOLE_PERIOD.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(PERIOD_PART)) {
    milliseconds += Number(amount) * (UNITS.get(unit ?? '') ?? Number.NaN);
  }
  return milliseconds <= MAX_PERIOD_MS ? milliseconds : undefined;
}

const FACTORS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
]);

/**
 * Parses a quantity in Kubernetes' notation, such as `4096`, `256Ki`, `3Mi` or `1Gi`, to bytes. Returns undefined for
 * invalid text.
 */
export function parseQuantity(text: string): number | undefined {
  const match = /^(\d+)(Ki|Mi|Gi)?$/.exec(text);
  if (!match) return undefined;
  const bytes = Number(match[1]) * (FACTORS.get(match[2] ?? '') ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
