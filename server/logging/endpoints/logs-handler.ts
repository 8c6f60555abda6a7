// Log queries over HTTP: decodes, waits for its turn, gets the answer within its time limit, and writes it. Owns GET and
// HEAD of `…/logs`. Lines come from the store (backends/), scope.ts decides who may see them, matching/ what a text
// matches. The chain has let every authenticated caller through: the scope decides.
import type {
  LogHistogramAnswer,
  LogQueryAnswer,
  LogStatisticsAnswer,
} from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { newLogQueryDecoder } from '../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { type GroupResource, newMethodNotAllowed, newPathNotFound } from '../../../apis/meta/v1/errors.ts';
import { sharerOf } from '../../authentication/user.ts';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import type { Turns } from '../../concurrency/turns.ts';
import { BufferedResponses } from '../../endpoints/buffered-responses.ts';
import { forget } from '../../memory/forgotten.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import type { Scopes } from '../access/scope.ts';
import { writeAnswer } from '../answers/answer-writer.ts';
import { LogContext } from '../answers/context.ts';
import { cursorFault } from '../answers/cursor.ts';
import { LogAnswers, type Untimed } from '../answers/log-answers.ts';
import { recordIDFault } from '../answers/record-id.ts';
import { rangeOf } from '../answers/selection.ts';
import { Deadline } from '../deadline.ts';
import { instantOf, later } from '../instant.ts';
import type { LogMetrics, LogOperation } from '../log-metrics.ts';
import type { LogStore, Selection } from '../log-store.ts';
import { patternError } from '../matching/regex-dialect.ts';
import { newStoreTimeout } from '../store-errors.ts';
import { writeExport } from '../streams/export.ts';
import { writeFollowed } from '../streams/follow.ts';
import { resumedFrom } from '../streams/resumption.ts';
import { refuseListing } from './listing.ts';
import { outcomeOf } from './outcome.ts';
import { newQuerySlots, type QueryLimits, type QuerySlot } from './query-slots.ts';

interface Asked {
  readonly query: LogQuery;
  readonly target: GroupResource;
  readonly slot: QuerySlot;
}

type Answered = Untimed<LogQueryAnswer> | Untimed<LogStatisticsAnswer> | Untimed<LogHistogramAnswer>;

export interface LogLimits extends QueryLimits {
  readonly queryTimeout: number;
  readonly exportTimeout: number;
  readonly exportLines: number;
  readonly followTimeout: number;
  readonly followOverlap: number;
  readonly buckets: number;
}

export interface LogsHandlerOptions {
  readonly store: LogStore;
  /** As the configuration calls it. */
  readonly storeName: string;
  readonly scopes: Pick<Scopes, 'of'>;
  /** Times in ms. */
  readonly limits: LogLimits;
  /** After how many ms the chain answers in place of this handler. */
  readonly requestTimeoutMs: number;
  /** In which lines are worked on; those of the store too. */
  readonly turns: Turns;
  readonly metrics: LogMetrics;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** That of the chain, in ms; a jump of the other one must neither end a query nor prolong it. */
  readonly monotonic?: () => number;
}

/** Reserved from the chain's deadline, so that what was found can still be sent. */
const MARGIN_MS = 1_000;
/** How long a store may exceed its time before its answer is no longer awaited. */
const GRACE_MS = 2_000;
/** Of answers that wait for their readers. */
const HELD = { bytes: 64 << 20, patienceMs: 1_000 };

export function logsHandler(options: LogsHandlerOptions): Handler {
  const { store, storeName, scopes, limits, turns, metrics, now = Date.now } = options;
  const { monotonic = () => performance.now() } = options;
  const answers = new LogAnswers({ store, scopes, turns, buckets: limits.buckets, now });
  const decoder = newLogQueryDecoder({
    pattern: patternError,
    cursor: cursorFault,
    context: recordIDFault,
    interval: (query) => answers.intervalFault(query),
  });
  const logContext = new LogContext({ store, storeName, scopes, turns, now });
  const slots = newQuerySlots(limits);
  const held = new BufferedResponses(HELD);

  /** Throws the error that the request is answered with; our own deadline is reported as a timeout of the store. */
  async function inTime<Answer>(
    { signal, user }: RequestContext,
    timeoutMs: number,
    work: (deadline: Deadline) => Promise<Answer>,
  ) {
    using bounded = boundedSignal(signal, timeoutMs + GRACE_MS);
    try {
      return await work(
        new Deadline({ signal: bounded.signal, timeoutMs, caller: sharerOf(user) }, monotonic),
      );
    } catch (error) {
      if (bounded.isLate) throw newStoreTimeout(storeName);
      throw error;
    }
  }

  async function answer(context: RequestContext, { query, target }: Asked): Promise<boolean> {
    const { user, startedAt } = context;
    const left = options.requestTimeoutMs - (monotonic() - startedAt) - MARGIN_MS - GRACE_MS;
    const work = async (deadline: Deadline): Promise<Answered> => {
      const asked = { query, user, deadline };
      if (query.context !== undefined) {
        return logContext.around(asked, target);
      }
      if (query.operation === 'statistics') return answers.statistics(asked);
      return query.operation === 'histogram' ? answers.histogram(asked) : answers.query(asked);
    };
    const answer = await inTime(context, Math.max(100, Math.min(limits.queryTimeout, left)), work);
    await turns.next();
    await writeAnswer(context, { ...answer, took: Math.round(monotonic() - startedAt) }, { held, turns });
    if ('query' in answer) forget(answer.query.records);
    return answer.partial === undefined;
  }

  async function exportLines(context: RequestContext, { query, slot }: Asked): Promise<boolean> {
    const shortfalls = await inTime(context, limits.exportTimeout, async (deadline) => {
      const range = rangeOf(query, now());
      const currentSelection = (): Promise<Selection | undefined> =>
        answers.selection(query, context.user, range, deadline);
      const selection = await currentSelection();
      return writeExport(
        context,
        { query, selection, currentSelection, call: deadline.call(), withdrawn: slot.withdrawn },
        {
          store,
          maxLines: limits.exportLines,
          streamed: (lines) => metrics.streamed('export', lines),
          now,
        },
      );
    });
    return shortfalls.length === 0;
  }

  async function follow(context: RequestContext, { query, slot }: Asked): Promise<boolean> {
    using bounded = boundedSignal(context.signal, limits.followTimeout);
    const { signal } = bounded;
    const begin = rangeOf(query, now());
    const asked = query.start_time === undefined ? undefined : begin.start;
    const resumed = resumedFrom(context.request.headers, limits.followOverlap, now());
    const start = resumed && asked ? later(resumed, asked) : (resumed ?? asked ?? instantOf(now()));
    const currentSelection = (): Promise<Selection | undefined> =>
      answers.selection(query, context.user, { start, end: begin.end }, { signal });
    const selection = await currentSelection();
    await writeFollowed(
      context,
      { query, selection, currentSelection, start, signal, withdrawn: slot.withdrawn },
      {
        store,
        turns,
        streamed: (lines) => metrics.streamed('follow', lines),
        overlapMs: limits.followOverlap,
        now,
        monotonic,
      },
    );
    return true;
  }

  return async (context) => {
    const { request, response, signal, info, user } = context;
    if (request.method === 'GET') refuseListing(context);
    const target = targetOf(context);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw newMethodNotAllowed(request.method ?? '', target);
    }
    const began = monotonic();
    let operation = guessOf(context.query);
    try {
      const query = decoder.decode(context.query);
      operation = operationOf(query);
      using slot = await slots[operation].take(signal, sharerOf(user));
      metrics.began(operation);
      try {
        // A caller who waited is admitted when another query ends, but not in the same turn of the event loop.
        await turns.next();
        const asked = { query, target, slot };
        const write = operation === 'export' ? exportLines : operation === 'follow' ? follow : answer;
        const whole = await write(context, asked);
        metrics.ended(operation, whole ? 'ok' : 'partial', (monotonic() - began) / 1000);
      } finally {
        metrics.left(operation);
      }
    } catch (error) {
      metrics.ended(operation, outcomeOf(error, { signal, begun: response.headersSent }), 0);
      context.log.debug({ operation, path: info.path, err: error }, 'a log query was not answered');
      throw error;
    }
  };
}

/** Throws NotFound below the collection: there is no single log to be read. */
function targetOf({ info }: RequestContext): GroupResource {
  if (!info.isResourceRequest || info.namespace !== '' || info.parts.length > 1) throw newPathNotFound();
  return { group: info.group, resource: info.resource };
}

function operationOf(query: LogQuery): LogOperation {
  if (query.follow) return 'follow';
  return query.context === undefined ? query.operation : 'context';
}

/** For the metrics of a query that cannot be read. */
function guessOf(query: URLSearchParams): LogOperation {
  if (query.has('follow')) return 'follow';
  const asked = query.get('operation');
  return asked === 'statistics' || asked === 'histogram' || asked === 'export' ? asked : 'query';
}

/** Everything that does not ask to follow. */
const NO: ReadonlySet<string> = new Set(['', '0', 'f', 'false']);

/** Exports and followers may outlive the chain's deadline, since they end by limits of their own. */
export function isLongRunningQuery(query: URLSearchParams): boolean {
  const follow = query.get('follow');
  return query.get('operation') === 'export' || (follow !== null && !NO.has(follow.toLowerCase()));
}
