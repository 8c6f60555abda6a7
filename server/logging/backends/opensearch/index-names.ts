// Builder of the index part of a search URL for a time range. The part lists the daily indices by name, or is a
// wildcard pattern for all indices with the configured prefix.
import { instantOf, millisecondsOf } from '../../instant.ts';
import type { Selection } from '../../log-store.ts';

export interface IndexNaming {
  readonly prefix: string;
  /** Whether there is one index for each day in UTC, `<prefix>-YYYY.MM.DD`. */
  readonly daily: boolean;
}

/** Half of the 4,096 bytes that the store accepts as a request line; about 75 days with the default prefix. */
export const MAX_PATH_LENGTH = 2_048;
/** Maximum length with excluded names. */
const MAX_EXCLUDING_LENGTH = 3_072;
const DAY_MS = 86_400_000;
const DAY_LENGTH = '-2026.01.15,'.length;
const DAY = /^\d{4}\.\d\d\.\d\d$/;

/** The daily indices of a range, separated by commas; the pattern of all indices if that is too long. */
export function indexPath(naming: IndexNaming, { start, end }: Selection['range']): string {
  if (!naming.daily) return allIndices(naming);
  const first = dayOf(start);
  // The end is exclusive: a range that ends at midnight does not include the day that begins then.
  const lastDay = dayOf(end);
  const last = end > instantOf(lastDay) ? lastDay : lastDay - DAY_MS;
  const days = Math.max(1, (last - first) / DAY_MS + 1);
  const prefix = encodeURIComponent(naming.prefix);
  if (!(days * (prefix.length + DAY_LENGTH) <= MAX_PATH_LENGTH)) return allIndices(naming);
  return Array.from({ length: days }, (_, n) => `${prefix}-${dayName(first + n * DAY_MS)}`).join(',');
}

/** The pattern of all indices with the prefix. With daily indices it is `<prefix>-2*`, to exclude longer prefixes. */
export function allIndices({ prefix, daily }: IndexNaming): string {
  return daily ? `${encodeURIComponent(prefix)}-2*` : allWithPrefix(prefix);
}

export function allWithPrefix(prefix: string): string {
  return `${encodeURIComponent(prefix)}*`;
}

export function isPattern(path: string): boolean {
  return path.includes('*');
}

/** Excludes indices from a path; undefined if the result is too long. */
export function excluding(path: string, names: readonly string[]): string | undefined {
  if (!isPattern(path)) {
    const excluded = new Set(names.map(encodeURIComponent));
    return path
      .split(',')
      .filter((name) => !excluded.has(name))
      .join(',');
  }
  const shorter = [path, ...names.map((name) => `-${encodeURIComponent(name)}`)].join(',');
  return shorter.length <= MAX_EXCLUDING_LENGTH ? shorter : undefined;
}

export function isDaily(prefix: string, name: string): boolean {
  return name.startsWith(`${prefix}-`) && DAY.test(name.slice(prefix.length + 1));
}

/** The daily index for the date in a name such as `<prefix>-2026.01.15-000002`; undefined without a date. */
export function dayIn(prefix: string, name: string): string | undefined {
  const [, ...parts] = /^-(\d{4})\D?(\d\d)\D?(\d\d)/.exec(name.slice(prefix.length)) ?? [];
  return parts.length === 0 ? undefined : `${encodeURIComponent(prefix)}-${parts.join('.')}`;
}

function dayOf(instant: string): number {
  return Math.floor(millisecondsOf(instant) / DAY_MS) * DAY_MS;
}

function dayName(day: number): string {
  return new Date(day).toISOString().slice(0, 10).replaceAll('-', '.');
}
