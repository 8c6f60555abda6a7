// Log operations with a JSON response: a page of lines, statistics and histograms. endpoints/logs-handler.ts handles
// HTTP, concurrency limits and timeouts.
import { hash } from 'node:crypto';
import type {
  LogHistogramAnswer,
  LogQueryAnswer,
  LogScope,
  LogStatisticsAnswer,
  Shortfall,
} from '../../../apis/logging/v1alpha2/log-answer.ts';
import { bySeverity, type LogQuery, type Severity } from '../../../apis/logging/v1alpha2/log-query.ts';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../../authentication/user.ts';
import type { Scopes } from '../access/scope.ts';
import { BEGINNING, instantOf, isQueryable, millisecondsOf } from '../store/instant.ts';
import {
  type Buckets,
  type Call,
  type Deadline,
  EMPTY_PAGE,
  emptyHistogram,
  type Instant,
  type LogStore,
  type NameFilter,
  type PageRequest,
  type Scope,
  type Selection,
  type SeverityCounts,
} from '../store/log-store.ts';
import { PAGE_CUT, queryPage } from '../store/page-limit.ts';
import { bucketsOf } from './buckets.ts';
import { decodeOpaque, encodeOpaque, responseRecords, type SlicedCall, textOf } from './responses.ts';

interface LogQueriesOptions extends Pick<SlicedCall, 'slicer'> {
  readonly store: LogStore;
  readonly scopes: Pick<Scopes, 'of'>;
  /** Maximum number of buckets of one histogram. */
  readonly buckets: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface LogCall {
  readonly query: LogQuery;
  readonly user: UserInfo;
  readonly deadline: Deadline;
}

/** The handler adds `took`. */
export type WithoutTook<Response> = Omit<Response, 'took'>;

export class LogQueries {
  readonly #options: LogQueriesOptions;

  constructor(options: LogQueriesOptions) {
    this.#options = options;
  }

  async page({ query, user, deadline }: LogCall): Promise<WithoutTook<LogQueryAnswer>> {
    const { store, slicer, now } = this.#options;
    const cursor = query.cursor === undefined ? undefined : readCursor(query, user.name, query.cursor);
    const range = cursor?.range ?? rangeOf(query, now());
    const scope = await this.#scopeOf(query, user, deadline);
    const selection = selectionOf(query, scope, range);
    const request: PageRequest = {
      order: query.sort,
      size: query.size,
      from: cursor ? 0 : query.from,
      after: cursor?.position,
    };
    // For a caller without permissions: the same response as for a query without matches.
    const { page, isCut } = selection
      ? await queryPage(store, { selection, request, deadline })
      : { page: EMPTY_PAGE, isCut: false };
    const records = await responseRecords(query, page.records, {
      slicer,
      signal: deadline.signal,
      caller: deadline.caller,
    });
    const next =
      page.next === undefined
        ? {}
        : { cursor: writeCursor(query, user.name, { range, position: page.next }) };
    return {
      query: {
        total: page.total.count,
        totalRelation: page.total.relation,
        ...limitedScope(scope),
        records,
        ...next,
      },
      ...partial(isCut ? [...page.shortfalls, PAGE_CUT] : page.shortfalls),
    };
  }

  async statistics({ query, user, deadline }: LogCall): Promise<WithoutTook<LogStatisticsAnswer>> {
    const { store, now } = this.#options;
    const selection = await this.selection(query, user, rangeOf(query, now()), deadline);
    if (!selection) return { statistics: { containers: 0, logs: 0, logsRelation: 'eq' } };
    const result = await store.statistics(selection, deadline.call());
    const { logs, containers, containersApproximate, shortfalls } = result;
    return {
      statistics: {
        containers,
        ...(containersApproximate ? { containersApproximate } : {}),
        logs: logs.count,
        logsRelation: logs.relation,
      },
      ...partial(shortfalls),
    };
  }

  async histogram({ query, user, deadline }: LogCall): Promise<WithoutTook<LogHistogramAnswer>> {
    const { store, now, buckets: limit } = this.#options;
    const range = rangeOf(query, now());
    const bucketsFrom = (start: Instant): Buckets =>
      bucketsOf({
        interval: query.interval,
        timeZone: query.time_zone,
        start: millisecondsOf(start),
        end: millisecondsOf(range.end),
        limit,
        isBySeverity: query.severity,
      });
    // Without a start, the buckets depend on the first line.
    const requested = range.start === BEGINNING ? undefined : bucketsFrom(range.start);
    const selection = await this.selection(query, user, range, deadline);
    const first = !requested && selection ? await firstLine(store, selection, deadline.call()) : undefined;
    const missing = first?.shortfalls ?? [];
    const buckets = requested ?? (first?.time === undefined ? undefined : bucketsFrom(first.time));
    if (!buckets) {
      const totalRelation = missing.length === 0 ? 'eq' : 'gte';
      return { histogram: { total: 0, totalRelation, histograms: [] }, ...partial(missing) };
    }
    const { total, counts, severities, shortfalls } = selection
      ? await store.histogram(selection, buckets, deadline.call())
      : emptyHistogram(buckets);
    return {
      histogram: {
        total: total.count,
        // An incomplete search for the first line may have missed earlier ones.
        totalRelation: missing.length === 0 ? total.relation : 'gte',
        histograms: counts.map((count, index) => ({
          time: buckets.edges[index] ?? 0,
          count,
          ...(severities ? { severities: countsAt(severities, index) } : {}),
        })),
      },
      ...partial([...missing, ...shortfalls]),
    };
  }

  /** Undefined if the caller is not allowed to read any of the namespaces; the store is then not queried. */
  async selection(
    query: LogQuery,
    user: UserInfo,
    range: Selection['range'],
    call: Pick<Call, 'signal'>,
  ): Promise<Selection | undefined> {
    return selectionOf(query, await this.#scopeOf(query, user, call), range);
  }

  #scopeOf(query: LogQuery, user: UserInfo, call: Pick<Call, 'signal'>): Promise<Scope> {
    return this.#options.scopes.of(user, names(query.namespaces, query.namespace_query), call);
  }
}

/** Namespaces of a page that are named. */
const NAMED = 20;

/** The member `scope` of a page, for a caller who is not allowed to read all logs. */
function limitedScope(scope: Scope): { scope?: LogScope } {
  if (scope.everything) return {};
  const namespaces = scope.namespaces.map(({ name }) => name);
  return { scope: { total: namespaces.length, namespaces: namespaces.slice(0, NAMED) } };
}

function countsAt(severities: SeverityCounts, bucket: number): Record<Severity, number> {
  return bySeverity((severity) => severities[severity][bucket] ?? 0);
}

async function firstLine(store: LogStore, selection: Selection, call: Call) {
  const page = await store.query(selection, { order: 'asc', size: 1, from: 0, uncounted: true }, call);
  return { time: page.records[0]?.time, shortfalls: page.shortfalls };
}

/** The member `partial` of a response. Deduplicated: two requests for the same lines may have the same shortfalls. */
export function partial(shortfalls: readonly Shortfall[]): { partial?: Shortfall[] } {
  if (shortfalls.length === 0) return {};
  return {
    partial: [...new Map(shortfalls.map((each) => [`${each.reason} ${each.message}`, each])).values()],
  };
}

/** The time range of a query. `now`: milliseconds since the epoch; the end of a range without `end_time`. */
export function rangeOf({ start_time: start, end_time: end }: LogQuery, now: number): Selection['range'] {
  return {
    start: start === undefined ? BEGINNING : instantOf(start * 1000),
    // The exclusive end after the last second, or after the current millisecond.
    end: instantOf(end === undefined ? now + 1 : (end + 1) * 1000),
  };
}

/** Undefined if the scope is empty; the store is then not queried. */
function selectionOf(query: LogQuery, scope: Scope, range: Selection['range']): Selection | undefined {
  if (!scope.everything && scope.namespaces.length === 0) return undefined;
  return {
    scope,
    range,
    namespaces: names(query.namespaces, query.namespace_query),
    pods: names(query.pods, query.pod_query),
    containers: names(query.containers, query.container_query),
    workloads: names(query.workloads, query.workload_query),
    text: textOf(query),
    levels: query.level,
  };
}

function names(
  exact: readonly string[] | undefined,
  contains: readonly string[] | undefined,
): NameFilter | undefined {
  return exact || contains ? { exact, contains } : undefined;
}

/** Position of the next page, encoded as an opaque string. Clients send it back, so it is untrusted; it grants no permission. The range is that of the first page, so that new lines do not shift the pages. */
interface Cursor {
  readonly range: Selection['range'];
  /** Defined by the store. */
  readonly position: string;
}

const CURSOR_VERSION = 1;
const INVALID_CURSOR = 'is not a cursor of this server; omit it for the first page';

/** Parameters that may differ between pages. */
const PAGE_PARAMETERS = new Set<string>([
  'cursor',
  'size',
  'from',
  'highlight',
  'severity',
  'before',
  'after',
  'interval',
  'time_zone',
]);

/** `caller`: the user name. The position may contain a total, which depends on the permissions of the caller. */
export function writeCursor(query: LogQuery, caller: string, { range, position }: Cursor): string {
  return encodeOpaque([CURSOR_VERSION, queryDigest(query, caller), range.start, range.end, position]);
}

/** Throws BadRequest for an invalid cursor, and for one of another query or caller. */
export function readCursor(query: LogQuery, caller: string, cursor: string): Cursor {
  const parsed = parseCursor(cursor);
  if (!parsed) throw newInvalidParameter('cursor', INVALID_CURSOR);
  const { digest, ...rest } = parsed;
  if (digest !== queryDigest(query, caller)) {
    throw newInvalidParameter(
      'cursor',
      'belongs to another query or another caller: repeat all parameters except size, or omit it for the first page',
    );
  }
  return rest;
}

/** Validation error of a malformed cursor. Does not check that the cursor belongs to the query and caller. */
export function cursorError(cursor: string): string | undefined {
  return parseCursor(cursor) ? undefined : INVALID_CURSOR;
}

function queryDigest(query: LogQuery, caller: string): string {
  const fixed = Object.entries(query)
    .filter(([name]) => !PAGE_PARAMETERS.has(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return hash('sha256', JSON.stringify([caller, fixed]), 'base64url').slice(0, 22);
}

function parseCursor(cursor: string): (Cursor & { readonly digest: unknown }) | undefined {
  const [version, digest, start, end, position] = decodeOpaque(cursor) ?? [];
  if (
    version !== CURSOR_VERSION ||
    !isQueryable(start) ||
    !isQueryable(end) ||
    typeof position !== 'string'
  ) {
    return undefined;
  }
  return start > end ? undefined : { range: { start, end }, position, digest };
}
