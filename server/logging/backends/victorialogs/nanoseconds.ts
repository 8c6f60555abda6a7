// Converts RFC 3339 timestamps to nanoseconds since the epoch, and nanoseconds to timestamps.
import { instantOfNanoseconds } from '../../instant.ts';
import type { Instant } from '../../log-store.ts';

export function nanosecondsOf(instant: Instant): bigint {
  return BigInt(Date.parse(`${instant.slice(0, 19)}Z`)) * 1_000_000n + BigInt(instant.slice(20, 29));
}

/** Returns the instant one nanosecond later. */
export function nextInstant(instant: Instant): Instant {
  return instantOfNanoseconds(nanosecondsOf(instant) + 1n);
}

const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?Z$/;
const DOT = 0x2e;
const ZULU = 0x5a;

/** Parses a time of the store, which omits trailing zeros; undefined for an invalid time. */
export function instantFrom(text: string): Instant | undefined {
  if (text.length === 30 && text.charCodeAt(19) === DOT && text.charCodeAt(29) === ZULU) return text;
  const found = FORM.exec(text);
  return found ? `${text.slice(0, 19)}.${(found[1] ?? '').padEnd(9, '0')}Z` : undefined;
}
