import type { Instant } from './log-store.ts';

/** The start of an unbounded range. */
export const BEGINNING: Instant = '1970-01-01T00:00:00.000000000Z';

/** The last instant that stores can represent: nanoseconds since the epoch in 64 bits. */
export const LAST_NANOSECOND: Instant = '2262-04-11T23:47:16.854775807Z';

/** The end of the last range that parameters can express. */
const END: Instant = '2286-11-20T17:46:40.000000000Z';

const PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;

export function isInstant(value: unknown): value is Instant {
  if (typeof value !== 'string' || !PATTERN.test(value)) return false;
  const milliseconds = Date.parse(value);
  // Date.parse accepts a 30th of February; stores do not.
  return !Number.isNaN(milliseconds) && instantOf(milliseconds).startsWith(value.slice(0, 19));
}

/** Whether parameters can express the time. Stores fail for others, so a time from a client is checked first. */
export function isQueryable(value: unknown): value is Instant {
  return isInstant(value) && BEGINNING <= value && value <= END;
}

/** `milliseconds` since the epoch, whole, from 0 to the end of the year 9999. */
export function instantOf(milliseconds: number): Instant {
  return `${new Date(milliseconds).toISOString().slice(0, -1)}000000Z`;
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

/** Sorts instants, and other texts, by UTF-16 code units. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
