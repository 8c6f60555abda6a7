// Times between the notations of records, of this server and of sort keys.
import { instantOf } from '../../../instant.ts';
import type { Instant } from '../../../log-store.ts';

const RFC3339 =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9})\d*)?(?:(Z)|([+-]\d{2}):?(\d{2})?)?$/i;

/** Whole milliseconds, and nanoseconds behind them; undefined for anything else. */
function parsed(value: unknown): { ms: number; ns: number } | undefined {
  if (typeof value !== 'string') return undefined;
  const match = RFC3339.exec(value);
  if (!match) return undefined;
  const [, day, clock = '', fraction = '', , hours, minutes] = match;
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes ?? '00'}`;
  const seconds = Date.parse(`${day}T${clock.length === 5 ? `${clock}:00` : clock}${offset}`);
  if (Number.isNaN(seconds)) return undefined;
  const nanoseconds = Number(fraction.padEnd(9, '0'));
  return { ms: seconds + Math.floor(nanoseconds / 1e6), ns: nanoseconds % 1_000_000 };
}

/**
 * What a record says of its time, with all the digits it has; undefined when it is not written as RFC 3339 has it. What
 * numbers mean, or digits without a mark, the mapping of their index alone can tell.
 */
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

/** How far a number of JavaScript may be from the nanoseconds since the epoch that were written, about. */
const LOST_NS = 128;
const MICROSECOND_NS = 1_000;

/** A sort key as a time; of nanoseconds it has lost the last digits, but for those that end with a microsecond. */
export function instantOfKey(key: number, nanoseconds: boolean): Instant {
  if (!nanoseconds) return instantOf(key);
  const microseconds = Math.round(key / MICROSECOND_NS);
  const isWhole = Math.abs(microseconds * MICROSECOND_NS - key) <= LOST_NS;
  const ns = isWhole ? BigInt(microseconds) * BigInt(MICROSECOND_NS) : BigInt(key);
  const ms = ns / 1_000_000n;
  return `${instantOf(Number(ms)).slice(0, 23)}${String(ns - ms * 1_000_000n).padStart(6, '0')}Z`;
}
