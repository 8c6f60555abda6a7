// Conversion and comparison of timestamps of type Instant: RFC 3339 in UTC with nine decimals. Instants sort by time
// when compared as text.
import type { Instant } from './log-store.ts';

/** Start of a range without `start_time`. */
export const BEGINNING: Instant = '1970-01-01T00:00:00.000000000Z';

/** The last instant that stores can represent: nanoseconds since the epoch in 64 bits. */
export const LAST_NANOSECOND: Instant = '2262-04-11T23:47:16.854775807Z';

/** End of a range with the maximum `end_time`. */
const END: Instant = '2286-11-20T17:46:40.000000000Z';

/** Without times that Date.parse() rejects, such as month 13. */
const PATTERN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{9}Z$/;

/** The first and the last millisecond that an Instant can represent. */
const [FIRST_MS, LAST_MS] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];
const NS_PER_MS = 1_000_000n;

export function isInstant(value: unknown): value is Instant {
  if (typeof value !== 'string' || !PATTERN.test(value)) return false;
  const milliseconds = Date.parse(value);
  // Date.parse accepts 30 February; stores reject it.
  return !Number.isNaN(milliseconds) && instantOf(milliseconds).startsWith(value.slice(0, 19));
}

/** Whether `start_time` and `end_time` can express the instant. Stores may fail for other instants from clients. */
export function isQueryable(value: unknown): value is Instant {
  return isInstant(value) && BEGINNING <= value && value <= END;
}

/** `milliseconds` since the epoch: a whole number. Times outside the years 0 to 9999 become the first or last instant. */
export function instantOf(milliseconds: number): Instant {
  const bounded = Math.min(Math.max(milliseconds, FIRST_MS), LAST_MS);
  return `${new Date(bounded).toISOString().slice(0, -1)}000000Z`;
}

/** The usual form of RFC 3339, which is parsed faster. */
const UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;
const RFC3339 =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9})\d*)?(?:(Z)|([+-]\d{2}):?(\d{2})?)?$/i;

/** Parses an RFC 3339 time with all its digits; undefined for other formats, such as numbers. */
export function parseInstant(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined;
  if (PATTERN.test(value)) return value;
  const utc = UTC.exec(value);
  if (utc && !Number.isNaN(Date.parse(value))) {
    return `${value.slice(0, 19)}.${(utc[1] ?? '').padEnd(9, '0')}Z`;
  }
  const match = RFC3339.exec(value);
  if (!match) return undefined;
  const [, day, clock = '', fraction = '', , hours, minutes] = match;
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes ?? '00'}`;
  const milliseconds = Date.parse(`${day}T${clock.length === 5 ? `${clock}:00` : clock}${offset}`);
  if (Number.isNaN(milliseconds)) return undefined;
  return `${instantOf(milliseconds).slice(0, 19)}.${fraction.padEnd(9, '0')}Z`;
}

/** Converts nanoseconds since the epoch, with the limits of instantOf(). */
export function instantOfNanoseconds(nanoseconds: bigint): Instant {
  const rest = nanoseconds - floorToMillisecond(nanoseconds);
  const milliseconds = instantOf(millisecondsOfNanoseconds(nanoseconds)).slice(0, 23);
  return `${milliseconds}${String(rest).padStart(6, '0')}Z`;
}

export function nanosecondsOf(instant: Instant): bigint {
  return BigInt(Date.parse(`${instant.slice(0, 19)}Z`)) * NS_PER_MS + BigInt(instant.slice(20, 29));
}

/** Returns the instant one nanosecond later. */
export function nextInstant(instant: Instant): Instant {
  return instantOfNanoseconds(nanosecondsOf(instant) + 1n);
}

/** Rounded down. */
export function millisecondsOfNanoseconds(nanoseconds: bigint): number {
  return Number(floorToMillisecond(nanoseconds) / NS_PER_MS);
}

function floorToMillisecond(nanoseconds: bigint): bigint {
  const rest = nanoseconds % NS_PER_MS;
  return nanoseconds - (rest < 0n ? rest + NS_PER_MS : rest);
}

/** Rounded down. */
export function millisecondsOf(instant: Instant): number {
  return Date.parse(`${instant.slice(0, 23)}Z`);
}

export function earlier(left: Instant, right: Instant): Instant {
  return left < right ? left : right;
}

export function later(left: Instant, right: Instant): Instant {
  return left > right ? left : right;
}

/** Comparator of instants and other strings, by UTF-16 code units. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
