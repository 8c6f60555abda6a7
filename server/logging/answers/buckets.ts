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

/** Throws BadRequest, with an interval that would do, when there were more of them than may be. */
export function bucketsOf({ interval, timeZone, start, end, limit }: BucketsWanted): Buckets {
  const zone = timeZoneOf(timeZone);
  const parsed = parseInterval(interval);
  const edges = edgesOf(parsed, zone, start, end, limit);
  if (!edges) {
    const wider = ROUND.filter((each) => roughSeconds(parseInterval(each)) > roughSeconds(parsed));
    const cure = wider.find((each) => edgesOf(parseInterval(each), zone, start, end, limit));
    const hint = cure === undefined ? 'ask for a shorter time' : `ask for interval=${cure}`;
    const most = mostOf(parsed, limit);
    throw newInvalidParameter('interval', `${interval} makes more than ${most} buckets; ${hint}`);
  }
  return { edges };
}

/** Undefined when they are too many. */
function edgesOf(
  interval: LogInterval,
  zone: TimeZone,
  start: number,
  end: number,
  limit: number,
): number[] | undefined {
  const most = mostOf(interval, limit);
  // Checked first: the seconds of a decade must not be counted one by one.
  if ((end - start) / 1000 / roughSeconds(interval) > most * 1.1 + 2) return undefined;
  const edges: number[] = [];
  for (const edge of isFixed(interval) ? fixed(interval, zone, start) : calendar(interval, zone, start)) {
    // Days that a calendar leaves out, as one was in Samoa, have no bucket.
    if (edge <= (edges.at(-1) ?? Number.NEGATIVE_INFINITY)) continue;
    // Where clocks go back over midnight, some of what is of the day before comes when the next one has begun.
    if (edge <= start) edges.length = 0;
    edges.push(edge);
    if (edge >= end && edges.length > 1) return edges;
    if (edges.length > most) return undefined;
  }
  return undefined;
}

function mostOf(interval: LogInterval, limit: number): number {
  return isFixed(interval) ? limit : Math.min(limit, MAX_OF_CALENDAR);
}

function isFixed({ unit }: LogInterval): boolean {
  return unit === 's' || unit === 'm' || unit === 'h';
}

function* fixed(interval: LogInterval, zone: TimeZone, start: number): Generator<number> {
  const step = roughSeconds(interval) * 1000;
  const offset = zone.offsetAt(start);
  for (let edge = Math.floor((start + offset) / step) * step - offset; ; edge += step) yield edge;
}

function* calendar({ count, unit }: LogInterval, zone: TimeZone, start: number): Generator<number> {
  const counting = COUNTING[unit === 'd' || unit === 'w' ? unit : 'M'];
  const each = count * (MONTHS[unit] ?? 1);
  const from = zone.dateAt(start);
  for (let at = Math.floor(counting.number(from) / each) * each; ; at += each)
    yield zone.beginOf(counting.date(at));
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
