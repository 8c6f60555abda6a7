// Where the buckets of a histogram begin and end. Seconds, minutes and hours are equally wide and counted from the
// epoch, with the zone's offset at the start; days and longer ones are those of the zone's calendar.
import {
  type IntervalUnit,
  type LogInterval,
  parseInterval,
  roughSeconds,
} from '../../../apis/logging/v1alpha2/log-interval.ts';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import type { Buckets } from '../log-store.ts';
import { type CalendarDate, type TimeZone, timeZoneOf } from './time-zone.ts';

export interface BucketsWanted {
  readonly interval: string;
  readonly timeZone: string;
  /** Milliseconds since the epoch; the last edge is at `end` or behind it. */
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** From the finest on. */
const ROUND = [
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

/** Of days and longer, five years of days: where clocks are changed a store may have to look for each by itself. */
const MAX_OF_CALENDAR = 2_000;

/** Throws BadRequest when there were more of them than may be. */
export function bucketsOf(wanted: BucketsWanted): Buckets {
  const fault = tooManyBuckets(wanted);
  if (fault !== undefined) throw newInvalidParameter('interval', fault);
  const { interval, timeZone, start, end } = wanted;
  const edges: number[] = [];
  for (const edge of edgesFrom(parseInterval(interval), timeZoneOf(timeZone), start)) {
    // Days that a calendar leaves out, as one was in Samoa, have no bucket.
    if (edge <= (edges.at(-1) ?? Number.NEGATIVE_INFINITY)) continue;
    // Where clocks go back over midnight, some of what is of the day before comes when the next one has begun.
    if (edge <= start) edges.length = 0;
    edges.push(edge);
    if (edge >= end && edges.length > 1) break;
  }
  return { edges };
}

/** What is wrong with the interval, with one that would do; undefined when there are not too many. Makes none of them. */
export function tooManyBuckets({ interval, timeZone, start, end, limit }: BucketsWanted): string | undefined {
  const zone = timeZoneOf(timeZone);
  const fits = (each: LogInterval): boolean => countOf(each, zone, start, end) <= mostOf(each, limit);
  const parsed = parseInterval(interval);
  if (fits(parsed)) return undefined;
  const wider = ROUND.filter((each) => roughSeconds(parseInterval(each)) > roughSeconds(parsed));
  const cure = wider.find((each) => fits(parseInterval(each)));
  const hint = cure === undefined ? 'ask for a shorter time' : `ask for interval=${cure}`;
  return `${interval} makes more than ${mostOf(parsed, limit)} buckets; ${hint}`;
}

/** A day that a calendar leaves out counts as well. */
function countOf(interval: LogInterval, zone: TimeZone, start: number, end: number): number {
  if (isFixed(interval)) {
    const step = roughSeconds(interval) * 1000;
    const offset = zone.offsetAt(start);
    return Math.ceil((end + offset) / step) - Math.floor((start + offset) / step);
  }
  const { counting, each } = countingOf(interval);
  const [first, last] = [start, end].map((time) => Math.floor(counting.number(zone.dateAt(time)) / each));
  return (last ?? 0) - (first ?? 0) + (zone.beginOf(counting.date((last ?? 0) * each)) < end ? 1 : 0);
}

function mostOf(interval: LogInterval, limit: number): number {
  return isFixed(interval) ? limit : Math.min(limit, MAX_OF_CALENDAR);
}

function isFixed({ unit }: LogInterval): boolean {
  return unit === 's' || unit === 'm' || unit === 'h';
}

/** The one that holds the start, and all behind it, without an end. */
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

/** What is counted, and how many of it are one bucket. */
function countingOf({ count, unit }: LogInterval): { readonly counting: Counting; readonly each: number } {
  const counting = COUNTING[unit === 'd' || unit === 'w' ? unit : 'M'];
  return { counting, each: count * (MONTHS[unit] ?? 1) };
}

const MONTHS: Readonly<Partial<Record<IntervalUnit, number>>> = { M: 1, q: 3, y: 12 };

interface Counting {
  number(date: CalendarDate): number;
  date(number: number): CalendarDate;
}

/** Days, weeks from Monday on, and months, numbered. */
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
