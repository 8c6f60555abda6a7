// Time boundaries of the buckets of a histogram. Buckets of days and longer units follow the calendar of the time
// zone.
import { LRUCache } from 'lru-cache';
import {
  type LogInterval,
  parseInterval,
  roughSeconds,
} from '../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import type { Buckets } from '../store/log-store.ts';

interface BucketRequest extends Pick<Buckets, 'isBySeverity'> {
  readonly interval: string;
  /** A name of Intl such as `Europe/Berlin` or `+05:30`. */
  readonly timeZone: string;
  /** Milliseconds since the epoch; the last edge is at `end` or after it. */
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** Maximum number of calendar buckets: five years of days. Because of clock changes a store may send a request for each. */
const MAX_CALENDAR_BUCKETS = 2_000;
const DAY_MS = 86_400_000;
const DAYS = { d: 1, w: 7 } as const;
const MONTHS = { M: 1, q: 3, y: 12 } as const;

/** Throws BadRequest for too many buckets. */
export function bucketsOf({
  interval,
  timeZone,
  start,
  end,
  limit,
  isBySeverity = false,
}: BucketRequest): Buckets {
  const parsed = parseInterval(interval);
  const { unit } = parsed;
  const isFixed = unit === 's' || unit === 'm' || unit === 'h';
  const maxBuckets = isFixed ? limit : Math.min(limit, MAX_CALENDAR_BUCKETS);
  const edges: number[] = [];
  for (const edge of isFixed ? fixedEdges(parsed, timeZone, start) : calendarEdges(parsed, timeZone, start)) {
    // A day that the calendar skips, such as 2011-12-30 in Samoa, has no bucket.
    if (edge <= (edges.at(-1) ?? Number.NEGATIVE_INFINITY)) continue;
    // If clocks go back over midnight, the previous day continues after the next one has begun.
    if (edge <= start) edges.length = 0;
    edges.push(edge);
    if (edges.length - 1 > maxBuckets || (edge >= end && edges.length > 1)) break;
  }
  if (edges.length - 1 <= maxBuckets) return { edges, isBySeverity };
  const message = `${interval} makes more than ${maxBuckets} buckets; use a wider interval or a shorter range`;
  throw newInvalidParameter('interval', message);
}

/** Yields the last edge at or before the start, and then all later edges, without end. */
function* fixedEdges(interval: LogInterval, timeZone: string, start: number): Generator<number> {
  const step = roughSeconds(interval) * 1000;
  // Buckets of seconds, minutes and hours have a fixed width; all edges use the UTC offset at the start of the range.
  const offset = offsetAt(timeZone, start);
  for (let edge = Math.floor((start + offset) / step) * step - offset; ; edge += step) yield edge;
}

/** As fixedEdges(), by the calendar. */
function* calendarEdges({ count, unit }: LogInterval, timeZone: string, start: number): Generator<number> {
  const local = wallClock(timeZone, start);
  if (unit === 'd' || unit === 'w') {
    const step = count * DAYS[unit] * DAY_MS;
    // The epoch was a Thursday, and weeks begin on Mondays.
    const first = unit === 'w' ? -3 * DAY_MS : 0;
    for (let day = Math.floor((local - first) / step) * step + first; ; day += step)
      yield midnight(timeZone, day);
  } else if (unit === 'M' || unit === 'q' || unit === 'y') {
    const step = count * MONTHS[unit];
    const date = new Date(local);
    const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
    // Date.UTC() accepts a month beyond the year.
    for (let at = Math.floor(month / step) * step; ; at += step)
      yield midnight(timeZone, Date.UTC(1970, at - 1970 * 12));
  }
}

/** The first instant of a local date. If a clock change skips midnight, the instant of the change. `day`: as wallClock(). */
function midnight(timeZone: string, day: number): number {
  const before = day - offsetAt(timeZone, day - DAY_MS);
  // The first of two midnights, if clocks go back over midnight.
  if (before + offsetAt(timeZone, before) === day) return before;
  const after = day - offsetAt(timeZone, day + DAY_MS);
  return after + offsetAt(timeZone, after) === day ? after : before;
}

/** Offset from UTC in ms. */
function offsetAt(timeZone: string, instant: number): number {
  return wallClock(timeZone, instant) - Math.floor(instant / 1000) * 1000;
}

/** Formatters by time zone: Intl takes almost a millisecond to create one. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 64 });

/** Local time in whole seconds, as the instant at which a clock of UTC has the same time. */
function wallClock(timeZone: string, instant: number): number {
  if (timeZone === 'UTC') return Math.floor(instant / 1000) * 1000;
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    // The Swedish format is that of ISO 8601: `2026-01-02 03:04:05`. formatToParts() takes twice as long.
    formatter = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    formatters.set(timeZone, formatter);
  }
  return Date.parse(`${formatter.format(instant).replace(' ', 'T')}Z`);
}
