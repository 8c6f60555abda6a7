// The query of a view of logs in the address of its page: the parameters of log queries, and `last` for a time range that
// ends now.
import type { LogQuery, Severity, TimeRange } from './logs.ts';

const NAMES = ['namespace', 'workload', 'pod', 'container'];
/** Filters with several values, which are separated by commas, as in log queries. */
const LISTS = [...NAMES.flatMap((name) => [`${name}s`, `${name}_query`]), 'level'];
const TEXTS = ['log_query', 'match', 'case'];
/** The most severe one first. */
export const SEVERITIES: readonly Severity[] = ['fatal', 'error', 'warn', 'info', 'debug', 'none'];
/** Lengths of relative time ranges in seconds, by their names in `last`. */
export const RELATIVE_RANGES: Readonly<Record<string, number>> = {
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '6h': 21_600,
  '24h': 86_400,
  '7d': 604_800,
};
const DEFAULT_RANGE = '1h';

/** The values of a filter. A view of all namespaces or one can have it as `namespace`, as lists do. */
function namesIn(address: URLSearchParams, name: string): string[] {
  const one = name === 'namespaces' ? address.getAll('namespace') : [];
  const values = [...address.getAll(name), ...one].flatMap((value) => value.split(','));
  return [...new Set(values.map((value) => value.trim()).filter((value) => value !== ''))];
}

/** The filters. Values that the server does not accept are sent, so that it says what is wrong. */
export function logFiltersIn(address: URLSearchParams): LogQuery {
  const lists = LISTS.map((name) => [name, namesIn(address, name)] as const);
  const texts = TEXTS.map((name) => [name, address.get(name) ?? ''] as const);
  return Object.fromEntries([...lists, ...texts].filter(([, value]) => value.length > 0));
}

/** The name of the relative time range; undefined for an absolute one. */
export function relativeRangeIn(address: URLSearchParams): string | undefined {
  if (address.has('start_time') || address.has('end_time')) return undefined;
  const last = address.get('last') ?? DEFAULT_RANGE;
  return Object.hasOwn(RELATIVE_RANGES, last) ? last : DEFAULT_RANGE;
}

export function timeRangeIn(address: URLSearchParams, now = Date.now()): TimeRange {
  const end_time = secondsIn(address, 'end_time') ?? Math.floor(now / 1000);
  const length = RELATIVE_RANGES[relativeRangeIn(address) ?? DEFAULT_RANGE] ?? 0;
  return { start_time: secondsIn(address, 'start_time') ?? end_time - length, end_time };
}

function secondsIn(address: URLSearchParams, name: string): number | undefined {
  const value = address.get(name) ?? '';
  return /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}
