// Time zone calculations for histograms: offsets, dates and midnights. The data come from Intl.
import { BoundedMap } from '../../memory/bounded-map.ts';

/** A date of the Gregorian calendar; months from 0. Days and months out of range overflow, as in Date.UTC. */
export interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const DAY_MS = 86_400_000;

const MAX_ZONES = 64;
const zones = new BoundedMap<string, TimeZone>(MAX_ZONES);

/** Returns a cached time zone: Intl takes almost a millisecond to create one. Throws RangeError for an unknown name. */
export function timeZoneOf(name: string): TimeZone {
  let zone = zones.get(name);
  if (!zone) {
    zone = new TimeZone(name);
    zones.set(name, zone);
  }
  return zone;
}

/** Offsets and midnights of a time zone, by the rules of Intl. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** Offset in ms if the zone has no clock changes; avoids Intl, which takes microseconds for each time. */
  readonly #fixed: number | undefined;

  /** `name`: a name of Intl such as `Europe/Berlin` or `+05:30`. Throws RangeError for an unknown name. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    this.#fixed = fixedOffset(this.#format.resolvedOptions().timeZone);
  }

  /** Offset from UTC in ms. */
  offsetAt(instant: number): number {
    return this.#wallClock(instant) - Math.floor(instant / 1000) * 1000;
  }

  dateAt(instant: number): CalendarDate {
    const clock = new Date(this.#wallClock(instant));
    return { year: clock.getUTCFullYear(), month: clock.getUTCMonth(), day: clock.getUTCDate() };
  }

  /** The first instant of the date. If a clock change skips midnight, the instant of the change. */
  beginOf({ year, month, day }: CalendarDate): number {
    const midnight = Date.UTC(year, month, day);
    const before = midnight - this.offsetAt(midnight - DAY_MS);
    // The first of two midnights, if clocks go back over midnight.
    if (before + this.offsetAt(before) === midnight) return before;
    const after = midnight - this.offsetAt(midnight + DAY_MS);
    return after + this.offsetAt(after) === midnight ? after : before;
  }

  /** Local time as if it were UTC. */
  #wallClock(instant: number): number {
    if (this.#fixed !== undefined) return Math.floor(instant / 1000) * 1000 + this.#fixed;
    const read: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(instant)) read[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }
}

/** Undefined unless the name is UTC or an offset. */
function fixedOffset(name: string): number | undefined {
  if (name === 'UTC') return 0;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):(\d{2})$/.exec(name) ?? [];
  if (sign === undefined) return undefined;
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
