// Times between the notations of records, of this server and of sort keys.
import type { Instant } from '../../../log-store.ts';

const RFC3339 =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9})\d*)?(?:(Z)|([+-]\d{2}):?(\d{2})?)?$/i;

/** Whole milliseconds, and nanoseconds behind them, of what a record's time field holds; undefined for anything else. */
function parsed(value: unknown): { ms: number; ns: number } | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) {
    const ms = Math.floor(value);
    return { ms, ns: Math.round((value - ms) * 1e6) % 1_000_000 };
  }
  if (typeof value !== 'string') return undefined;
  if (/^-?\d{1,15}$/.test(value)) return { ms: Number(value), ns: 0 };
  const match = RFC3339.exec(value);
  if (!match) return undefined;
  const [, day, clock = '', fraction = '', , hours, minutes] = match;
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes ?? '00'}`;
  const seconds = Date.parse(`${day}T${clock.length === 5 ? `${clock}:00` : clock}${offset}`);
  if (Number.isNaN(seconds)) return undefined;
  const nanoseconds = Number(fraction.padEnd(9, '0'));
  return { ms: seconds + Math.floor(nanoseconds / 1e6), ns: nanoseconds % 1_000_000 };
}

/** What a record says of its time, with all the digits it has; undefined when that is no time. */
export function toInstant(value: unknown): Instant | undefined {
  // The usual case costs nothing: collectors write it in just this form.
  if (typeof value === 'string' && value.length === 30 && value[19] === '.' && value[29] === 'Z') {
    if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/.test(value)) return value;
  }
  const time = parsed(value);
  if (!time) return undefined;
  const date = new Date(time.ms);
  if (Number.isNaN(date.getTime())) return undefined;
  return `${date.toISOString().slice(0, -1)}${String(time.ns).padStart(6, '0')}Z`;
}
