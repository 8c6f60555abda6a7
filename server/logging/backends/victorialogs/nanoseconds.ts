// Conversion between timestamps and nanoseconds since the epoch, for arithmetic.
import type { Instant } from '../../log-store.ts';

const PER_SECOND = 1_000_000_000n;

export function nanosecondsOf(instant: Instant): bigint {
  return BigInt(Date.parse(`${instant.slice(0, 19)}Z`)) * 1_000_000n + BigInt(instant.slice(20, 29));
}

/** `nanoseconds`: 0 or more. */
export function instantAt(nanoseconds: bigint): Instant {
  const seconds = new Date(Number(nanoseconds / PER_SECOND) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(nanoseconds % PER_SECOND).padStart(9, '0')}Z`;
}

/** Returns the instant one nanosecond later. */
export function nextInstant(instant: Instant): Instant {
  return instantAt(nanosecondsOf(instant) + 1n);
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
