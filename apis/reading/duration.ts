// Parser of durations in Go's notation, such as `1.5h`, `1m30s`, `-3s` or `0`.
import { elided } from './elided-text.ts';

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
const AMOUNT = '\\d+(?:\\.\\d*)?|\\.\\d+';
const PART = `(${AMOUNT})(${[...UNITS.keys()].join('|')})`;
const DURATION = new RegExp(`^(?:${PART})+$`);

const UNITS_OF_GO = [...UNITS.keys()].filter((unit) => unit !== 'd');
/** The amounts with a unit of Go, the next amount, and the text where its unit is expected. */
const UNIT = new RegExp(`^[+-]?(?:(?:${AMOUNT})(?:${UNITS_OF_GO.join('|')}))*(?:${AMOUNT})([^\\d.]*)`);

/** Maximum length of the text, above the length of any meaningful duration. */
const MAX_LENGTH = 256;
/** Go's maximum, 2⁶³ ns (292 years), in ms. */
const MAX_MS = 2 ** 63 / 1e6;

/** Returns milliseconds; undefined for invalid text. `days`: accept the unit `d`, which Go does not have. */
export function parseDuration(
  text: string,
  { days = false }: { readonly days?: boolean } = {},
): number | undefined {
  const amounts = text.replace(/^[+-]/, '');
  if (amounts === '0') return 0;
  if (text.length > MAX_LENGTH || !DURATION.test(amounts) || (!days && amounts.includes('d')))
    return undefined;
  let milliseconds = 0;
  for (const [, amount, unit = ''] of amounts.matchAll(new RegExp(PART, 'g'))) {
    milliseconds += Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  }
  if (milliseconds >= MAX_MS) return undefined;
  return text.startsWith('-') ? -milliseconds : milliseconds;
}

/** Returns Go's error for an invalid duration. */
export function durationError(text: string): string {
  const shown = JSON.stringify(elided(text, 100));
  const unit = UNIT.exec(text.slice(0, 100))?.[1];
  if (unit === undefined || UNITS_OF_GO.includes(unit)) return `invalid duration ${shown}`;
  return unit === ''
    ? `missing unit in duration ${shown}`
    : `unknown unit ${JSON.stringify(unit)} in duration ${shown}`;
}
