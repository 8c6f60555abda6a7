// Time boundaries of the buckets of a histogram. Buckets of seconds, minutes and hours have a fixed width; their
// boundaries use the UTC offset that the time zone has at the start of the range. Buckets of days and longer units
// follow the calendar of the time zone.
import {
  type IntervalUnit,
  type LogInterval,
  parseInterval,
  roughSeconds,
} from '../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import type { Buckets } from '../log-store.ts';
import { type CalendarDate, type TimeZone, timeZoneOf } from './time-zone.ts';

export interface BucketRequest {
  readonly interval: string;
  readonly timeZone: string;
  /** Milliseconds since the epoch; the last edge is at `end` or after it. */
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** Suggested intervals, ascending. */
const SUGGESTED = [
  '1s',
  '5s',
  '10s',
  '30s',
  '1m',
  '5m',
  '15m',
  '30m',
  '1h',
  '3h',
  '6h',
  '12h',
  '1d',
  '1w',
  '1M',
  '1q',
  '1y',
];

/** Maximum number of calendar buckets: five years of days. Because of clock changes a store may send a request for each. */
const MAX_CALENDAR_BUCKETS = 2_000;

/** Throws BadRequest for too many buckets. */
export function bucketsOf(request: BucketRequest): Buckets {
  const edges = edgesOf(request);
  if (!edges) throw newInvalidParameter('interval', tooManyBuckets(request) ?? 'has too many buckets');
  return { edges };
}

/** Validation error of an interval with too many buckets, with a wider interval as a suggestion. */
export function tooManyBuckets(request: BucketRequest): string | undefined {
  if (edgesOf(request)) return undefined;
  const interval = parseInterval(request.interval);
  const wider = SUGGESTED.filter((each) => roughSeconds(parseInterval(each)) > roughSeconds(interval));
  const fitting = wider.find((each) => edgesOf({ ...request, interval: each }));
  const hint = fitting === undefined ? 'use a shorter range' : `use interval=${fitting}`;
  return `${request.interval} makes more than ${mostOf(interval, request.limit)} buckets; ${hint}`;
}

/** Undefined for too many buckets. */
function edgesOf({ interval, timeZone, start, end, limit }: BucketRequest): number[] | undefined {
  const parsed = parseInterval(interval);
  const most = mostOf(parsed, limit);
  const edges: number[] = [];
  for (const edge of edgesFrom(parsed, timeZoneOf(timeZone), start)) {
    // A day that the calendar skips, such as 2011-12-30 in Samoa, has no bucket.
    if (edge <= (edges.at(-1) ?? Number.NEGATIVE_INFINITY)) continue;
    // If clocks go back over midnight, the previous day continues after the next one has begun.
    if (edge <= start) edges.length = 0;
    edges.push(edge);
    if (edges.length - 1 > most) return undefined;
    if (edge >= end && edges.length > 1) return edges;
  }
  return undefined;
}

function mostOf(interval: LogInterval, limit: number): number {
  return isFixed(interval) ? limit : Math.min(limit, MAX_CALENDAR_BUCKETS);
}

function isFixed({ unit }: LogInterval): boolean {
  return unit === 's' || unit === 'm' || unit === 'h';
}

/** Yields the last edge at or before the start, and then all later edges, without end. */
function edgesFrom(interval: LogInterval, zone: TimeZone, start: number): Generator<number> {
  return isFixed(interval) ? fixed(interval, zone, start) : calendar(interval, zone, start);
}

function* fixed(interval: LogInterval, zone: TimeZone, start: number): Generator<number> {
  const step = roughSeconds(interval) * 1000;
  const offset = zone.offsetAt(start);
  for (let edge = Math.floor((start + offset) / step) * step - offset; ; edge += step) yield edge;
}

function* calendar(interval: LogInterval, zone: TimeZone, start: number): Generator<number> {
  const { counting, each } = countingOf(interval);
  const from = zone.dateAt(start);
  for (let at = Math.floor(counting.number(from) / each) * each; ; at += each)
    yield zone.beginOf(counting.date(at));
}

/** The numbering of the calendar unit, and the number of units in one bucket. */
function countingOf({ count, unit }: LogInterval): { readonly counting: Counting; readonly each: number } {
  const counting = COUNTING[unit === 'd' || unit === 'w' ? unit : 'M'];
  return { counting, each: count * (MONTHS[unit] ?? 1) };
}

const MONTHS: Readonly<Partial<Record<IntervalUnit, number>>> = { M: 1, q: 3, y: 12 };

interface Counting {
  number(date: CalendarDate): number;
  date(number: number): CalendarDate;
}

/** Numbering of days, weeks from Monday, and months. */
const COUNTING: Readonly<Record<'d' | 'w' | 'M', Counting>> = {
  d: { number: dayNumber, date: (number) => ({ year: 1970, month: 0, day: 1 + number }) },
  // The epoch was a Thursday.
  w: {
    number: (date) => Math.floor((dayNumber(date) + 3) / 7),
    date: (number) => ({ year: 1970, month: 0, day: 1 + number * 7 - 3 }),
  },
  M: {
    number: ({ year, month }) => year * 12 + month,
    date: (number) => ({ year: Math.floor(number / 12), month: number % 12, day: 1 }),
  },
};

function dayNumber({ year, month, day }: CalendarDate): number {
  return Math.floor(Date.UTC(year, month, day) / 86_400_000);
}
