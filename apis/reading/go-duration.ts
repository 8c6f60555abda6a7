// Parser of durations in Go's notation.
/** Milliseconds per unit. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** Maximum length of the text, above the length of any meaningful duration. */
const MAX_LENGTH = 256;

/** Go's maximum, 2⁶³ ns (292 years), in ms. */
const MAX_MS = 2 ** 63 / 1e6;

/**
 * Parses a duration in a query parameter, such as `1.5h`, `-3s` or `0`, to milliseconds, as kube-apiserver does.
 * Throws an Error with Go's message.
 */
export function parseGoDuration(text: string): number {
  if (text.length > MAX_LENGTH) throw durationError('invalid duration', `${text.slice(0, MAX_LENGTH)}...`);
  const negative = text.startsWith('-');
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  let milliseconds = 0;
  const part = /(\d*(?:\.\d*)?)([^\d.]*)/y;
  while (part.lastIndex < rest.length) {
    const [, amount = '', unit = ''] = part.exec(rest) ?? [];
    if (!/\d/.test(amount)) throw durationError('invalid duration', text);
    if (unit === '') throw durationError('missing unit in duration', text);
    const factor = UNITS.get(unit);
    if (factor === undefined) throw durationError(`unknown unit ${quoted(unit)} in duration`, text);
    milliseconds += Number(amount) * factor;
  }
  if (rest === '' || milliseconds >= MAX_MS) throw durationError('invalid duration', text);
  return negative ? -milliseconds : milliseconds;
}

function durationError(what: string, text: string): Error {
  return new Error(`time: ${what} ${quoted(text)}`);
}

/** Quotes like Go's package time: control characters and non-ASCII bytes in hexadecimal. */
function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[^\x20-\x7f]+/g, hexadecimal)}"`;
}

function hexadecimal(text: string): string {
  return Buffer.from(text).toString('hex').replaceAll(/../g, '\\x$&');
}
