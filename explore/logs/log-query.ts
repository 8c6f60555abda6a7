// The query of the view in its address: the parameters of log queries, and `last` for a time range that ends now.
import type { LogQuery, Severity } from 'ks-apiserver-client';

/** The filters, without the time range. Lists are separated by commas, as in log queries. */
const NAMES = ['namespaces', 'workloads', 'pods', 'containers'] as const;
const PARTS = ['namespace_query', 'workload_query', 'pod_query', 'container_query'] as const;
export const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug'] as const;
export const SEVERITIES: readonly Severity[] = [...LEVELS, 'none'];
export const MATCHES = {
  prefix: 'Words',
  phrase: 'Whole words',
  substring: 'Exact text',
  regex: 'Regular expression',
} as const;
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
  const lists = [...NAMES, ...PARTS, 'level'].map((name) => [name, namesIn(query, name)] as const);
  const texts = ['log_query', 'match', 'case'].map((name) => [name, query.get(name) ?? ''] as const);
  return Object.fromEntries([...lists, ...texts].filter(([, value]) => value.length > 0));
}

/** A time range in seconds since the epoch; both ends are included. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
}

/** The name of the relative range of an address; undefined for an absolute one. */
export function lastOf(query: URLSearchParams): string | undefined {
  if (query.has('start_time') || query.has('end_time')) return undefined;
  const last = query.get('last') ?? DEFAULT_RANGE;
  return Object.hasOwn(RANGES, last) ? last : DEFAULT_RANGE;
}

export function rangeOf(query: URLSearchParams, now: number): TimeRange {
  const last = lastOf(query);
  const seconds = Math.floor(now / 1000);
  if (last !== undefined) return { start: seconds - (RANGES[last] ?? 0), end: seconds };
  const end = secondsIn(query, 'end_time') ?? seconds;
  return { start: secondsIn(query, 'start_time') ?? end - (RANGES[DEFAULT_RANGE] ?? 0), end };
}

function secondsIn(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? '';
  return /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

export function absolute({ start, end }: TimeRange): Record<string, string | undefined> {
  return { start_time: String(start), end_time: String(Math.max(start, end)), last: undefined };
}

const INTERVALS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => ({ interval: `${count}s`, seconds: count })),
  ...[1, 2, 5, 10, 15, 30].map((count) => ({ interval: `${count}m`, seconds: count * 60 })),
  ...[1, 2, 3, 6, 12].map((count) => ({ interval: `${count}h`, seconds: count * 3_600 })),
  ...[1, 2, 7, 30, 90, 365].map((count) => ({ interval: `${count}d`, seconds: count * 86_400 })),
];
const MAX_BUCKETS = 120;

/** The smallest interval with at most MAX_BUCKETS buckets. */
export function intervalOf({ start, end }: TimeRange): (typeof INTERVALS)[number] {
  const fits = INTERVALS.find(({ seconds }) => end - start <= seconds * MAX_BUCKETS);
  return fits ?? { interval: '10y', seconds: 315_360_000 };
}

/** The local time: `12:03:04`, with milliseconds `12:03:04.567`, with the date `2026-01-31 12:03:04`. */
export function clockOf(time: string | number, { date = false, millis = false } = {}): string {
  const at = new Date(time);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(date ? 0 : 11, millis ? 23 : 19).replace('T', ' ');
}

export function levelName(severity: Severity): string {
  return severity === 'none' ? 'without level' : severity;
}
