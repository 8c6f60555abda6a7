/** Milliseconds. */
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

/** No duration that means something is longer. */
const MAX_LENGTH = 256;

/** Beyond 2⁶³ ns, which is 292 years, Go has no durations. */
const LONGEST = 2 ** 63 / 1e6;

/**
 * Milliseconds of a duration in a query parameter, such as `1.5h`, `-3s` or `0`, as kube-apiserver reads them.
 * Throws a plain Error worded as Go words it.
 */
export function parseGoDuration(text: string): number {
  if (text.length > MAX_LENGTH) throw fault('invalid duration', `${text.slice(0, MAX_LENGTH)}...`);
  const negative = text.startsWith('-');
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  let milliseconds = 0;
  const part = /(\d*(?:\.\d*)?)([^\d.]*)/y;
  while (part.lastIndex < rest.length) {
    const [, amount = '', unit = ''] = part.exec(rest) ?? [];
    if (!/\d/.test(amount)) throw fault('invalid duration', text);
    if (unit === '') throw fault('missing unit in duration', text);
    const factor = UNITS.get(unit);
    if (factor === undefined) throw fault(`unknown unit ${quoted(unit)} in duration`, text);
    milliseconds += Number(amount) * factor;
  }
  if (rest === '' || milliseconds >= LONGEST) throw fault('invalid duration', text);
  return negative ? -milliseconds : milliseconds;
}

function fault(what: string, text: string): Error {
  return new Error(`time: ${what} ${quoted(text)}`);
}

/** As Go's package time has it, and no other: bytes of control characters, and of all that is not ASCII, in hexadecimal. */
function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[^\x20-\x7f]+/g, hexadecimal)}"`;
}

function hexadecimal(text: string): string {
  return Buffer.from(text).toString('hex').replaceAll(/../g, '\\x$&');
}
