// The indices that can hold lines of a time: one a day of UTC, or everything that begins with the prefix.
import { instantOf, later, millisecondsOf } from '../../../instant.ts';
import { ROOM_FOR_NAMES, ROOM_WITH_EXCLUDED } from '../connection/first-line.ts';

export interface IndexNaming {
  readonly prefix: string;
  /** Whether there is one index a day of UTC, `<prefix>-YYYY.MM.DD`. */
  readonly daily: boolean;
}

const DAY_MS = 86_400_000;

/**
 * The part of a path that names the indices of `start <= time < end`: days, else months, else all. Only UTC counts;
 * the time zone of this process does not.
 */
export function indexPattern(
  naming: IndexNaming,
  range: { readonly start: string; readonly end: string },
): string {
  if (!naming.daily) return beginningWith(naming.prefix);
  const prefix = encodeURIComponent(naming.prefix);
  const first = dayOf(range.start);
  const last = lastDay(range.end);
  const days = (last - first) / DAY_MS + 1;
  const all = `${prefix}-*`;
  if (Number.isNaN(days)) return all;
  // Where nothing can be found any index will do; the clause for the time range excludes everything.
  if (days < 1) return `${prefix}-${name(first)}`;
  if (days * (prefix.length + 12) <= ROOM_FOR_NAMES) {
    return Array.from({ length: days }, (_, n) => `${prefix}-${name(first + n * DAY_MS)}`).join(',');
  }
  const months = monthsBetween(name(first), name(last));
  if (months * (prefix.length + 10) > ROOM_FOR_NAMES) return all;
  const [year = 0, month = 0] = name(first).split('.').map(Number);
  return Array.from({ length: months }, (_, n) => {
    const date = new Date(Date.UTC(year, month - 1 + n, 1));
    return `${prefix}-${name(date.getTime()).slice(0, 8)}*`;
  }).join(',');
}

export interface NamedIndices {
  /** Part of a path. */
  readonly indices: string;
  /** What the store knows of them, by name. */
  readonly known: readonly string[];
  readonly refused: readonly string[];
}

/** Those that can hold lines of a part of the time; all of them where that cannot be told, or is none of them. */
export function indicesWithin(
  naming: IndexNaming,
  { indices, known, refused }: NamedIndices,
  part: { readonly start: string; readonly end: string },
): string {
  const days = indexPattern(naming, part);
  if (days.includes('*')) return indices;
  const names = days.split(',');
  if (!indices.includes('*')) {
    const all = new Set(indices.split(','));
    return names.filter((name) => all.has(name)).join(',') || indices;
  }
  // A pattern may stand for more than days, and months may be refused.
  const isDay = (name: string): boolean => isOfDay(naming.prefix, name);
  if (!known.every(isDay) || !refused.every(isDay)) return indices;
  return names.filter((name) => !refused.includes(decodeURIComponent(name))).join(',') || indices;
}

/** Without these, as far as a request has room to say so. `indices`: part of a path. */
export function without(indices: string, names: readonly string[]): string {
  if (names.length === 0) return indices;
  if (!indices.includes('*')) {
    const left = indices.split(',').filter((name) => !names.includes(decodeURIComponent(name)));
    return left.join(',') || indices;
  }
  const excluding = [indices, ...names.map((name) => `-${encodeURIComponent(name)}`)].join(',');
  return excluding.length <= ROOM_WITH_EXCLUDED ? excluding : indices;
}

const DAY = /^\d{4}\.\d\d\.\d\d$/;

/** Whether it is named as the index of a day. */
export function isOfDay(prefix: string, name: string): boolean {
  return name.startsWith(`${prefix}-`) && DAY.test(name.slice(prefix.length + 1));
}

/** The index of the day that the name of another one begins with, however it is written; in part of a path. */
export function dayWithin(prefix: string, name: string): string | undefined {
  const [, ...parts] = /^-(\d{4})\D?(\d\d)\D?(\d\d)/.exec(name.slice(prefix.length)) ?? [];
  return parts.length === 0 ? undefined : `${encodeURIComponent(prefix)}-${parts.join('.')}`;
}

/** The indices of the last days of the range, as many as a request can name; undefined where days have none of their own. */
export function newestDays(
  naming: IndexNaming,
  range: { readonly start: string; readonly end: string },
): string | undefined {
  if (!naming.daily) return undefined;
  const days = Math.floor(ROOM_FOR_NAMES / (encodeURIComponent(naming.prefix).length + 12));
  const first = Math.max(0, lastDay(range.end) - (days - 1) * DAY_MS);
  return indexPattern(naming, { start: later(range.start, instantOf(first)), end: range.end });
}

/** The indices that count, of all times, and those that look like them; in part of a path. */
export function allIndices({ prefix, daily }: IndexNaming): string {
  // Of years, so that those of a longer prefix are others.
  return daily ? `${encodeURIComponent(prefix)}-2*` : beginningWith(prefix);
}

/** Whatever the naming. */
export function beginningWith(prefix: string): string {
  return `${encodeURIComponent(prefix)}*`;
}

function dayOf(instant: string): number {
  return Math.floor(millisecondsOf(instant) / DAY_MS) * DAY_MS;
}

/** The end is exclusive: at midnight sharp, the day before is the last. */
function lastDay(end: string): number {
  const day = dayOf(end);
  return end > instantOf(day) ? day : day - DAY_MS;
}

function name(day: number): string {
  return new Date(day).toISOString().slice(0, 10).replaceAll('-', '.');
}

function monthsBetween(first: string, last: string): number {
  const number = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  return number(last) - number(first) + 1;
}
