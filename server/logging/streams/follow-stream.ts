// HTTP response of a live tail: a stream of new log lines. A change of the caller's permissions ends the stream.
import type { ResponseRecord, Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { isExpired, StatusError } from '../../../apis/meta/v1/errors.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import { pause } from '../../concurrency/pause.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import { acceptsEvents } from '../../http/accept.ts';
import { GONE, StreamBody, streamHeaders } from '../../http/stream-body.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { pieces, responseRecords } from '../queries/responses.ts';
import type { Batches, Instant, LogRecord, LogStore } from '../store/log-store.ts';
import {
  endWhenPreempted,
  isSameScope,
  type Preemptible,
  type ReviewedSelection,
  reviewPermissions,
} from './stream-end.ts';
import { type TailClocks, TailPosition } from './tail-position.ts';

export interface FollowRequest extends ReviewedSelection, Preemptible {
  readonly query: LogQuery;
  /** Start of the selection. */
  readonly start: Instant;
  /** Aborted when the caller disconnects, the server stops or the time limit passes. */
  readonly signal: AbortSignal;
}

export interface FollowOptions extends TailClocks {
  readonly store: Pick<LogStore, 'follow'>;
  readonly slicer: TimeSlicer;
  readonly streamed: (lines: number) => void;
  /** Overlap of a resumed tail with the lines that the client has. */
  readonly overlapMs: number;
  /** 15,000 by default. */
  readonly heartbeatMs?: number;
  /** Interval of permission reviews in ms; 15,000 by default. */
  readonly reviewMs?: number;
  /** Time without progress of the reader in ms; 30,000 by default. */
  readonly stallMs?: number;
}

interface FollowFormat {
  readonly contentType: string;
  /** `idOf`: the id with which a reader of the record resumes. */
  lines(records: readonly ResponseRecord[], idOf: (record: ResponseRecord) => Instant): string;
  readonly heartbeat: string;
  /** The id with which the reader resumes; empty without ids. */
  position(id: Instant): string;
  failure(shortfall: Shortfall): string;
}

const NDJSON: FollowFormat = {
  contentType: 'application/x-ndjson',
  lines: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  heartbeat: '\n',
  position: () => '',
  failure: (error) => `${JSON.stringify({ error })}\n`,
};

/**
 * Server-Sent Events. The heartbeat is a comment without an empty line, because some clients parse the empty line as an
 * event. A position has data, because some clients ignore an id without data. Its event type hides it from `onmessage`.
 */
const EVENTS: FollowFormat = {
  contentType: 'text/event-stream',
  lines: (records, idOf) =>
    records.map((record) => `id: ${idOf(record)}\ndata: ${JSON.stringify(record)}\n\n`).join(''),
  heartbeat: ':\n',
  position: (id) => `event: position\nid: ${id}\ndata: ${JSON.stringify({ time: id })}\n\n`,
  failure: (error) => `event: failure\ndata: ${JSON.stringify(error)}\n\n`,
};

/** Time in ms in which a failure of the store is returned as an error status. */
const EARLY_FAILURE_MS = 300;
const DONE = new DOMException('the live tail has ended', 'AbortError');

/** Resolves after an orderly end; rejects with GONE when the reader has disconnected. */
export async function writeFollowed(
  context: RequestContext,
  request: FollowRequest,
  options: FollowOptions,
): Promise<void> {
  const { response } = context;
  const format = acceptsEvents(context.request.headers.accept) ? EVENTS : NDJSON;
  const writeHead = () => response.writeHead(200, streamHeaders(format.contentType));
  if (context.request.method === 'HEAD') {
    writeHead().end();
    return;
  }
  const { reviewMs = 15_000, stallMs = 30_000 } = options;
  const over = new AbortController();
  endWhenPreempted(request, response, over);
  const signal = AbortSignal.any([request.signal, over.signal]);
  const batches = request.selection
    ? options.store.follow(request.selection, { signal, caller: context.caller })
    : noLines();
  let failure: unknown;
  const body = new StreamBody(response, { gzip: false, stallMs });
  try {
    const first = batches.next();
    await throwEarlyFailure(first);
    writeHead().flushHeaders();
    const position = new TailPosition(request.start, options.overlapMs, options);
    const tail = { response, body, format, position };
    await body.write(format.position(position.id));
    using _heartbeat = startHeartbeat(tail, options);
    // Clients can restart a tail, so any change of permissions and any failed review ends it.
    using _review = reviewPermissions(request, {
      intervalMs: reviewMs,
      mayContinue: isSameScope,
      tolerance: 0,
      over,
    });
    for (let next = first; ; next = batches.next()) {
      const { done, value } = await orAborted(next, signal);
      if (done) break;
      if (value.length > 0) await writeLines(tail, value, { ...request, signal }, options, context.caller);
    }
  } catch (error) {
    if (!response.headersSent) throw error;
    failure = error;
  } finally {
    over.abort(DONE);
    // Not awaited: a store may ignore the signal.
    batches.return().catch(() => undefined);
  }
  if (body.closed) throw GONE;
  const reason: unknown = over.signal.reason === DONE ? failure : over.signal.reason;
  // After a stop of the server or the time limit the client just reconnects.
  const isReported = reason !== undefined && !request.signal.aborted;
  if (isReported) await body.write(format.failure(shortfallOf(reason)));
  await body.end();
  if (isReported && reason === failure) throw failure;
}

interface Tail {
  readonly response: RequestContext['response'];
  readonly body: StreamBody;
  readonly format: FollowFormat;
  readonly position: TailPosition;
}

function startHeartbeat(
  { response, body, format, position }: Tail,
  { heartbeatMs = 15_000 }: FollowOptions,
): Disposable {
  const timer = setInterval(() => {
    // A reader that still has lines to read needs no heartbeat.
    if (response.writableLength > 0 || body.closed) return;
    const id = position.advance();
    response.write(format.heartbeat + (id === undefined ? '' : format.position(id)));
  }, heartbeatMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function writeLines(
  { body, format, position }: Tail,
  records: readonly LogRecord[],
  { query, signal }: FollowRequest,
  { slicer, streamed }: FollowOptions,
  caller: string,
): Promise<void> {
  for (const piece of pieces(records)) {
    const lines = await responseRecords(query, piece, { slicer, signal, caller });
    await body.write(format.lines(lines, position.ids()));
    streamed(piece.length);
  }
  position.written(records);
}

/** Throws a failure within EARLY_FAILURE_MS. Then it resolves: a store without new lines is healthy. */
async function throwEarlyFailure(first: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  try {
    await Promise.race([first, pause(EARLY_FAILURE_MS, settled.signal)]);
  } finally {
    settled.abort();
  }
}

// oxlint-disable-next-line require-yield -- for a caller without permissions
async function* noLines(): Batches {
  await new Promise(() => undefined);
}

/** Without internal text. */
function shortfallOf(error: unknown): Shortfall {
  const message = error instanceof StatusError ? error.message : 'the live tail failed';
  if (isExpired(error)) return { reason: 'ScopeChanged', message };
  // A status below 500 means that the tail exceeds a limit; the store is healthy.
  return { reason: error instanceof StatusError && error.code < 500 ? 'Limit' : 'StoreFailed', message };
}
