// Parsers of numbers and booleans in query parameters, with the rules of kube-apiserver.
import { goQuoted } from './go-quote.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

function numError(parser: string, text: string, why: string): Error {
  return new Error(`strconv.${parser}: parsing ${goQuoted(text)}: ${why}`);
}

/** More digits than those of any 64-bit integer. BigInt needs a tenth of a second for 200,000 digits. */
const MAX_DIGITS = 20;

/** Returns undefined for a number with more digits than 64 bits can have. `text`: digits after an optional sign. */
function integerIn(text: string): bigint | undefined {
  const [, sign, digits = ''] = /^([+-]?)0*(\d*)$/.exec(text) ?? [];
  if (digits.length > MAX_DIGITS) return undefined;
  return sign === '-' ? -BigInt(digits) : BigInt(digits);
}

/** Parses a decimal 64-bit integer. Throws an Error with Go's message. */
export function parseInt64(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw numError('ParseInt', text, 'invalid syntax');
  const value = integerIn(text);
  if (value === undefined || !inInt64(value)) throw numError('ParseInt', text, 'value out of range');
  return value;
}

export function inInt64(value: bigint): boolean {
  return value <= INT64_MAX && value >= INT64_MIN;
}

/** Parses a decimal unsigned 64-bit integer, such as a resourceVersion. Throws an Error with Go's message. */
export function parseUint64(text: string): bigint {
  if (!/^\d+$/.test(text)) throw numError('ParseUint', text, 'invalid syntax');
  const value = integerIn(text);
  if (value === undefined || value > UINT64_MAX) throw numError('ParseUint', text, 'value out of range');
  return value;
}

/** Parses a boolean list option: every value except `0` and `false` is true, even the empty string. */
export function parseLooseBoolean(text: string): boolean {
  return text !== '0' && text.toLowerCase() !== 'false';
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** Go's strconv.ParseBool, with undefined for invalid text. */
export function parseBoolean(text: string): boolean | undefined {
  return BOOLEANS.get(text);
}
