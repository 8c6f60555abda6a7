// HTTP handler of log queries. Every authenticated caller may query, but receives only lines of namespaces that the
// caller may read.
import type { Logger } from 'pino';
import type {
  LogHistogramAnswer,
  LogQueryAnswer,
  LogStatisticsAnswer,
} from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { newLogQueryDecoder } from '../../../apis/logging/v1alpha2/log-query-decoder.ts';
import {
  type GroupResource,
  newBadRequest,
  newMethodNotAllowed,
  newPathNotFound,
} from '../../../apis/meta/v1/errors.ts';
import { parseBoolean } from '../../../apis/reading/go-number.ts';
import type { Admission } from '../../admission/admission.ts';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import { parseAccept } from '../../http/accept.ts';
import { BufferedResponses } from '../../http/buffered-responses.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { ScopedLogStore, type Scopes } from '../access/scope.ts';
import { cursorError, LogQueries, rangeOf, type WithoutTook } from '../queries/log-queries.ts';
import { recordIDError, writeResponse } from '../queries/responses.ts';
import { SurroundingLines } from '../queries/surrounding-lines.ts';
import { instantOf, later } from '../store/instant.ts';
import { type LogMetrics, type LogOperation, outcomeOf } from '../store/log-metrics.ts';
import { Deadline, type LogStore, type Selection } from '../store/log-store.ts';
import { newStoreTimeout } from '../store/store-errors.ts';
import { writeExport } from '../streams/export-stream.ts';
import { writeFollowed } from '../streams/follow-stream.ts';
import { resumedFrom } from '../streams/tail-position.ts';
import { QUERY_LIMITS, type QueryLimits, queryPools } from './query-pools.ts';

/** Times in ms. */
export interface LogLimits extends QueryLimits {
  readonly queryTimeout: number;
  readonly exportTimeout: number;
  readonly exportLines: number;
  readonly followTimeout: number;
  readonly followOverlap: number;
  readonly buckets: number;
}

export const LOG_LIMITS = {
  ...QUERY_LIMITS,
  /** Half of the time limit of a request, so that a partial result is in time. */
  queryTimeout: 30_000,
  /** An export of `exportLines` lines takes minutes. */
  exportTimeout: 1_800_000,
  exportLines: 10_000_000,
  /** The client reconnects, to a replica that may be new. */
  followTimeout: 4 * 3_600_000,
  /**
   * A resumed live tail starts this long before the last event that the client received: collectors deliver most lines
   * within this time after their timestamps.
   */
  followOverlap: 15_000,
  /** A week in buckets of one minute, which consoles request, has 10,080. */
  buckets: 11_000,
} as const satisfies LogLimits;

interface LogsHandlerOptions {
  readonly store: LogStore;
  /** The value of `logging.store`. */
  readonly storeName: string;
  readonly scopes: Pick<Scopes, 'of'>;
  readonly limits: LogLimits;
  readonly admission: Pick<Admission, 'pool'>;
  /** Time limit of the filter chain in ms. */
  readonly requestTimeoutMs: number;
  readonly slicer: TimeSlicer;
  readonly metrics: LogMetrics;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Monotonic clock of the filter chain, in ms. */
  readonly monotonic?: () => number;
}

interface DecodedRequest {
  readonly query: LogQuery;
  readonly target: GroupResource;
  /** Aborted when another caller preempts the export or live tail. */
  readonly preempted: AbortSignal;
}

type LogResponse = WithoutTook<LogQueryAnswer | LogStatisticsAnswer | LogHistogramAnswer>;

/** Time in ms that is reserved for sending the response within the time limit of the filter chain. */
const MARGIN_MS = 1_000;
/** Time in ms by which a store may exceed its time limit. */
const GRACE_MS = 2_000;
export const BUFFERED_RESPONSES = { bytes: 64 << 20, protectedMs: 1_000 };

export function logsHandler(options: LogsHandlerOptions): Handler {
  const { storeName, scopes, limits, slicer, metrics, now = Date.now } = options;
  const { monotonic = () => performance.now() } = options;
  const store = new ScopedLogStore(options.store, options.log);
  const queries = new LogQueries({ store, scopes, slicer, buckets: limits.buckets, now });
  const surroundingLines = new SurroundingLines({ store, storeName, scopes, slicer, now });
  const decoder = newLogQueryDecoder({
    cursor: cursorError,
    context: recordIDError,
  });
  const pools = queryPools(limits, options.admission);
  const buffered = new BufferedResponses(BUFFERED_RESPONSES);

  /** Runs `work` with a deadline; exceeding it is a timeout of the store. */
  async function withDeadline<Result>(
    { signal, caller }: RequestContext,
    timeoutMs: number,
    work: (deadline: Deadline) => Promise<Result>,
  ): Promise<Result> {
    using bounded = boundedSignal(signal, timeoutMs + GRACE_MS);
    const call = { signal: bounded.signal, timeoutMs, caller };
    try {
      return await work(new Deadline(call, monotonic));
    } catch (error) {
      if (bounded.isLate) throw newStoreTimeout(storeName);
      throw error;
    }
  }

  function respond(call: Parameters<LogQueries['page']>[0], target: GroupResource): Promise<LogResponse> {
    const { context, operation } = call.query;
    if (context !== undefined) return surroundingLines.query(call, target);
    if (operation === 'statistics') return queries.statistics(call);
    return operation === 'histogram' ? queries.histogram(call) : queries.page(call);
  }

  async function runQuery(context: RequestContext, { query, target }: DecodedRequest): Promise<boolean> {
    const { user, startedAt } = context;
    const left = options.requestTimeoutMs - (monotonic() - startedAt) - MARGIN_MS - GRACE_MS;
    const timeoutMs = Math.max(100, Math.min(limits.queryTimeout, left));
    const response = await withDeadline(context, timeoutMs, (deadline) =>
      respond({ query, user, deadline }, target),
    );
    await slicer.of(context).next();
    const took = Math.round(monotonic() - startedAt);
    await writeResponse(context, { ...response, took }, { buffered, slicer });
    return response.partial === undefined;
  }

  async function runExport(context: RequestContext, { query, preempted }: DecodedRequest): Promise<boolean> {
    const shortfalls = await withDeadline(context, limits.exportTimeout, async (deadline) => {
      const range = rangeOf(query, now());
      const currentSelection = (): Promise<Selection | undefined> =>
        queries.selection(query, context.user, range, deadline);
      const selection = await currentSelection();
      return writeExport(
        context,
        { query, selection, currentSelection, call: deadline.call(), preempted },
        {
          store,
          slicer,
          maxLines: limits.exportLines,
          streamed: (lines) => metrics.streamed('export', lines),
          now,
        },
      );
    });
    return shortfalls.length === 0;
  }

  async function runFollow(context: RequestContext, { query, preempted }: DecodedRequest): Promise<boolean> {
    using bounded = boundedSignal(context.signal, limits.followTimeout);
    const { signal } = bounded;
    const range = rangeOf(query, now());
    const requested = query.start_time === undefined ? undefined : range.start;
    const resumed = resumedFrom(context.request.headers, limits.followOverlap, now());
    const start =
      resumed && requested ? later(resumed, requested) : (resumed ?? requested ?? instantOf(now()));
    const currentSelection = (): Promise<Selection | undefined> =>
      queries.selection(query, context.user, { start, end: range.end }, { signal });
    const selection = await currentSelection();
    await writeFollowed(
      context,
      { query, selection, currentSelection, start, signal, preempted },
      {
        store,
        slicer,
        streamed: (lines) => metrics.streamed('follow', lines),
        overlapMs: limits.followOverlap,
        now,
        monotonic,
      },
    );
    return true;
  }

  return async (context) => {
    const { request, response, signal, info } = context;
    if (request.method === 'GET') rejectObjects(context);
    const target = targetOf(context);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw newMethodNotAllowed(request.method ?? '', target);
    }
    const began = monotonic();
    let operation = requestedOperation(context.query);
    try {
      const query = decoder.decode(context.query);
      operation = operationOf(query);
      const preemption = new AbortController();
      using _seat = await pools[operation].take(context.caller, context, (error) => preemption.abort(error));
      metrics.began(operation);
      try {
        // The seat may have been released in the same turn of the event loop.
        await slicer.of(context).next();
        const run = operation === 'export' ? runExport : operation === 'follow' ? runFollow : runQuery;
        const isComplete = await run(context, { query, target, preempted: preemption.signal });
        metrics.ended(operation, isComplete ? 'ok' : 'partial', (monotonic() - began) / 1000);
      } finally {
        metrics.left(operation);
      }
    } catch (error) {
      metrics.ended(operation, outcomeOf(error, { signal, headersSent: response.headersSent }), 0);
      context.log.debug({ operation, path: info.path, err: error }, 'log query failed');
      throw error;
    }
  };
}

/** Throws BadRequest for kubectl without --raw, which requests a table of objects, or objects with only a `limit`. */
function rejectObjects({ info, request, query }: RequestContext): void {
  if (!info.isResourceRequest || info.prefix !== 'apis') return;
  const isTable = parseAccept(request.headers.accept ?? '').some(({ parameters }) => parameters.has('as'));
  const isList = query.size === 1 && query.has('limit');
  if (!isTable && !isList) return;
  const path = `/apis/${info.group}/${info.version}/${info.resource}`;
  throw newBadRequest(
    `${info.resource} cannot be listed as objects; use kubectl get --raw '${path}?size=10'`,
  );
}

/** Throws NotFound below the collection: there are no single logs. */
function targetOf({ info }: RequestContext): GroupResource {
  if (!info.isResourceRequest || info.namespace !== '' || info.parts.length > 1) throw newPathNotFound();
  return { group: info.group, resource: info.resource };
}

function operationOf(query: LogQuery): LogOperation {
  if (query.follow) return 'follow';
  return query.context === undefined ? query.operation : 'context';
}

/** The operation that a query requests, before it is validated. */
function requestedOperation(query: URLSearchParams): LogOperation {
  const follow = query.get('follow');
  if (follow !== null && parseBoolean(follow) === true) return 'follow';
  const operation = query.get('operation');
  return operation === 'statistics' || operation === 'histogram' || operation === 'export'
    ? operation
    : 'query';
}

/** Whether the query is an export or a live tail, to which the time limit of the filter chain does not apply. */
export function isLongRunningQuery(query: URLSearchParams): boolean {
  const operation = requestedOperation(query);
  return operation === 'export' || operation === 'follow';
}
