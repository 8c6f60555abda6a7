import { BoundedMap } from '../../memory/bounded-map.ts';

/** A date as a calendar has it; months from 0. Days and months beyond their range count on, as in Date.UTC. */
export interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const DAY_MS = 86_400_000;

/** Of the zones that were asked for; the one that was made first goes first. */
const MAX_ZONES = 64;
const zones = new BoundedMap<string, TimeZone>(MAX_ZONES);

/** One for all who ask for it: making one takes Intl the better part of a millisecond. Throws as TimeZone does. */
export function timeZoneOf(name: string): TimeZone {
  let zone = zones.get(name);
  if (!zone) {
    zone = new TimeZone(name);
    zones.set(name, zone);
  }
  return zone;
}

/** What the clocks of one zone show, and when a date begins there. The rules are those that Intl knows. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** In ms, where clocks are never changed; asking Intl takes microseconds each time. */
  readonly #fixed: number | undefined;

  /** `name` as Intl takes it: `Europe/Berlin`, `+05:30`. Throws RangeError for any other. */
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

  /** How far the clocks are ahead of UTC at that instant, in ms. */
  offsetAt(instant: number): number {
    return this.#wallClock(instant) - Math.floor(instant / 1000) * 1000;
  }

  dateAt(instant: number): CalendarDate {
    const clock = new Date(this.#wallClock(instant));
    return { year: clock.getUTCFullYear(), month: clock.getUTCMonth(), day: clock.getUTCDate() };
  }

  /** The first instant of the date. Where clocks leave midnight out, the one at which they do so. */
  beginOf({ year, month, day }: CalendarDate): number {
    const midnight = Date.UTC(year, month, day);
    const before = midnight - this.offsetAt(midnight - DAY_MS);
    // Where clocks go back and show midnight twice, this is the first time that they do.
    if (before + this.offsetAt(before) === midnight) return before;
    const after = midnight - this.offsetAt(midnight + DAY_MS);
    return after + this.offsetAt(after) === midnight ? after : before;
  }

  /** The reading of the clocks, as if it were of UTC. */
  #wallClock(instant: number): number {
    if (this.#fixed !== undefined) return Math.floor(instant / 1000) * 1000 + this.#fixed;
    const read: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(instant)) read[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }
}

/** Of a zone as Intl calls it: UTC and offsets have one. */
function fixedOffset(name: string): number | undefined {
  if (name === 'UTC') return 0;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):(\d{2})$/.exec(name) ?? [];
  if (sign === undefined) return undefined;
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
