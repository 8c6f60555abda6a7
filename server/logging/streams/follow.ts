// Live tail: lines as they come, until the caller leaves, the server stops, the time is over, or what the caller may see
// has changed. Nothing is fetched from the store before the reader takes it.
import { setTimeout as delay } from 'node:timers/promises';
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { isExpired, StatusError } from '../../../apis/meta/v1/errors.ts';
import { sharerOf } from '../../authentication/user.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import type { Turns } from '../../concurrency/turns.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { answered } from '../answers/answered-records.ts';
import { pieces } from '../answers/record-weight.ts';
import type { Instant, LogRecord, LogStore } from '../log-store.ts';
import { type FollowFormat, followFormat } from './follow-format.ts';
import { type TailClocks, TailPosition } from './resumption.ts';
import { isSame, type WatchedRights, watchRights } from './rights-watch.ts';
import { GONE, StreamBody } from './stream-body.ts';
import { endWhenWithdrawn, type Withdrawable } from './withdrawal.ts';

/** The selection goes from `start` on. */
export interface FollowRequest extends WatchedRights, Withdrawable {
  readonly query: LogQuery;
  readonly start: Instant;
  /** Aborted when the caller has gone, the server stops or the time is over. */
  readonly signal: AbortSignal;
}

export interface FollowOptions extends TailClocks {
  readonly store: Pick<LogStore, 'follow'>;
  readonly turns: Turns;
  readonly streamed: (lines: number) => void;
  /** How far before what a client has seen it goes on when it comes back. */
  readonly overlapMs: number;
  /** Ms between two heartbeats; 15,000 when none is given. */
  readonly heartbeatMs?: number;
  /** Ms between two looks at what the caller may see; 15,000 when none is given. */
  readonly reviewMs?: number;
  /** Ms that a reader may take nothing; 30,000 when none is given. */
  readonly stallMs?: number;
}

/** How long a failure has time to come as a status of its own, in ms. */
const FAILURE_MS = 300;

type Batches = AsyncGenerator<readonly LogRecord[], void, undefined>;

/** Resolves when it has ended properly, and everything was written; rejects when the reader is gone. */
export async function writeFollowed(
  context: RequestContext,
  request: FollowRequest,
  options: FollowOptions,
): Promise<void> {
  const { response } = context;
  const format = followFormat(context.request.headers.accept);
  const writeHead = () => response.writeHead(200, headersOf(format));
  if (context.request.method === 'HEAD') {
    writeHead().end();
    return;
  }
  const { reviewMs = 15_000, stallMs = 30_000 } = options;
  const over = new AbortController();
  endWhenWithdrawn(request, response, over);
  const signal = AbortSignal.any([request.signal, over.signal]);
  const batches = request.selection
    ? options.store.follow(request.selection, { signal, caller: sharerOf(context.user) })
    : silence();
  let failure: unknown;
  const body = new StreamBody(response, { gzip: false, stallMs });
  try {
    const first = batches.next();
    await failedAtOnce(first);
    writeHead().flushHeaders();
    const position = new TailPosition(request.start, options.overlapMs, options);
    const tail = { response, body, format, position };
    await body.write(format.position(position.id));
    using _heartbeat = beating(tail, options);
    // It can be begun anew with what is there to be seen then.
    using _rights = watchRights(request, { everyMs: reviewMs, goesOn: isSame, patience: 0, over });
    await copy(first, batches, signal, (records) => show(tail, records, { ...request, signal }, options));
  } catch (error) {
    if (!response.headersSent) throw error;
    failure = error;
  } finally {
    over.abort(DONE);
    // Not awaited: a store that ignores the signal must not hold anybody up.
    batches.return().catch(() => undefined);
  }
  if (body.closed) throw GONE;
  const reason: unknown = over.signal.reason === DONE ? failure : over.signal.reason;
  // A stop and the end of the time need no message: the caller reconnects.
  const isTold = reason !== undefined && !request.signal.aborted;
  if (isTold) await body.write(format.failure({ reason: reasonOf(reason), message: wordsFor(reason) }));
  await body.end();
  if (isTold && reason === failure) throw failure;
}

/** What is written to one reader, and how far that is. */
interface Tail {
  readonly response: RequestContext['response'];
  readonly body: StreamBody;
  readonly format: FollowFormat;
  readonly position: TailPosition;
}

/** Signs of life, until it is disposed. */
function beating(
  { response, body, format, position }: Tail,
  { heartbeatMs = 15_000 }: FollowOptions,
): Disposable {
  const timer = setInterval(() => {
    // A reader that is behind with lines needs none.
    if (response.writableLength > 0 || body.closed) return;
    const moved = position.moved();
    response.write(format.heartbeat + (moved === undefined ? '' : format.position(moved)));
  }, heartbeatMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function show(
  { body, format, position }: Tail,
  records: readonly LogRecord[],
  { query, signal }: FollowRequest,
  { turns, streamed }: FollowOptions,
): Promise<void> {
  position.taken();
  for (const piece of pieces(records)) {
    const lines = await answered(query, piece, { turns, signal });
    await body.write(format.lines(lines, position.ids()));
    streamed(piece.length);
  }
  position.shown(records);
}

const DONE = new DOMException('nothing more to follow', 'AbortError');

/** Until `signal` is aborted, or the store has nothing more. */
async function copy(
  first: Promise<IteratorResult<readonly LogRecord[], void>>,
  batches: Batches,
  signal: AbortSignal,
  write: (records: readonly LogRecord[]) => Promise<void>,
): Promise<void> {
  for (let next = first; ; next = batches.next()) {
    const result = await orAborted(next, signal);
    if (result.done) return;
    if (result.value.length > 0) await write(result.value);
  }
}

/** Throws what fails before anything was sent; a store without new lines is healthy. */
async function failedAtOnce(first: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  const timer = delay(FAILURE_MS, undefined, { signal: waited.signal }).catch(() => undefined);
  try {
    await Promise.race([first, timer]);
  } finally {
    waited.abort();
  }
}

// oxlint-disable-next-line require-yield -- nothing comes
async function* silence(): Batches {
  await new Promise(() => undefined);
}

function headersOf({ contentType }: FollowFormat) {
  return {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // Buffering proxies would hold lines back.
    'X-Accel-Buffering': 'no',
    Vary: 'Accept, Origin',
  };
}

function reasonOf(error: unknown): Shortfall['reason'] {
  if (isExpired(error)) return 'ScopeChanged';
  // More has come than may be followed; the store itself is well.
  return error instanceof StatusError && error.code < 500 ? 'Limit' : 'StoreFailed';
}

/** Only what everybody may read. */
function wordsFor(error: unknown): string {
  return error instanceof StatusError ? error.message : 'following the logs failed';
}
