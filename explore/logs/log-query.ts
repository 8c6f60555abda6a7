// The query of the view in its address: the parameters of log queries, and `last` for a time range that ends now.
import type { LogQuery, Severity, TimeRange } from 'ks-apiserver-client';
import type { Changes } from '../route.ts';

const NAMES = ['namespace', 'workload', 'pod', 'container'];
/** Filters with several values, which are separated by commas, as in log queries. */
const LISTS = [...NAMES.flatMap((name) => [`${name}s`, `${name}_query`]), 'level'];
const TEXTS = ['log_query', 'match', 'case'];
export const SEVERITIES: readonly Severity[] = ['fatal', 'error', 'warn', 'info', 'debug', 'none'];
/** Relative time ranges in seconds. */
export const RANGES: Readonly<Record<string, number>> = {
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '6h': 21_600,
  '24h': 86_400,
  '7d': 604_800,
};
const DEFAULT_RANGE = '1h';

export function namesIn(query: URLSearchParams, name: string): string[] {
  const values = query.getAll(name).flatMap((value) => value.split(','));
  // The namespace of the frame, in which a list has one.
  const frame = name === 'namespaces' ? query.getAll('namespace') : [];
  return [...new Set([...values, ...frame].map((value) => value.trim()).filter((value) => value !== ''))];
}

/** The filters of an address. Values that the server does not accept are sent, so that it says what is wrong. */
export function filtersOf(query: URLSearchParams): LogQuery {
  const lists = LISTS.map((name) => [name, namesIn(query, name)] as const);
  const texts = TEXTS.map((name) => [name, query.get(name) ?? ''] as const);
  return Object.fromEntries([...lists, ...texts].filter(([, value]) => value.length > 0));
}

/** The name of the relative range of an address; undefined for an absolute one. */
export function lastOf(query: URLSearchParams): string | undefined {
  if (query.has('start_time') || query.has('end_time')) return undefined;
  const last = query.get('last') ?? DEFAULT_RANGE;
  return Object.hasOwn(RANGES, last) ? last : DEFAULT_RANGE;
}

export function rangeOf(query: URLSearchParams, now: number): TimeRange {
  const end_time = secondsIn(query, 'end_time') ?? Math.floor(now / 1000);
  const length = RANGES[lastOf(query) ?? DEFAULT_RANGE] ?? 0;
  return { start_time: secondsIn(query, 'start_time') ?? end_time - length, end_time };
}

function secondsIn(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? '';
  return /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

/** Changes of a query to an absolute range, which new lines do not reach. */
export function absolute({ start_time, end_time }: TimeRange): Changes {
  const end = String(Math.max(start_time, end_time));
  return { start_time: String(start_time), end_time: end, last: undefined, follow: undefined };
}

/** The local time, as in inputs: `2026-01-31T12:03:04.567`. */
export function localTime(time: string | number): string {
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

/** The local time, with the date unless it is today: `12:03:04.567`, `2026-01-31 12:03:04.567`. */
export function clockOf(time: string | number): string {
  const [date = '', clock = ''] = localTime(time).split('T');
  return localTime(Date.now()).startsWith(date) ? clock : `${date} ${clock}`;
}
