// Numbers and truth values in query parameters, as the Go clients and kube-apiserver read them.
import { goQuoted } from './go-quote.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

function fault(parser: string, text: string, why: string): Error {
  return new Error(`strconv.${parser}: parsing ${goQuoted(text)}: ${why}`);
}

/** A decimal 64-bit integer. Throws a plain Error worded as Go words it. */
export function parseInt64(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw fault('ParseInt', text, 'invalid syntax');
  const value = BigInt(text.replace(/^\+/, ''));
  if (!inInt64(value)) throw fault('ParseInt', text, 'value out of range');
  return value;
}

export function inInt64(value: bigint): boolean {
  return value <= INT64_MAX && value >= INT64_MIN;
}

/** A decimal unsigned 64-bit integer: what a resourceVersion is. Throws a plain Error worded as Go words it. */
export function parseUint64(text: string): bigint {
  if (!/^\d+$/.test(text)) throw fault('ParseUint', text, 'invalid syntax');
  const value = BigInt(text);
  if (value > UINT64_MAX) throw fault('ParseUint', text, 'value out of range');
  return value;
}

/** A boolean list option: everything that is there and neither `0` nor `false` is true, even the empty string. */
export function parseLooseBoolean(text: string): boolean {
  return text !== '0' && text.toLowerCase() !== 'false';
}

/** strconv.ParseBool with false for what it refuses. */
export function parseStrictBoolean(text: string): boolean {
  return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text);
}
