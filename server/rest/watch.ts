// The verb watch: sends initial events if the client requests them, then every change until the timeout.
import { isExpired, newExpired, StatusError } from '../../apis/meta/v1/errors.ts';
import { type ListOptions, readListOptions } from '../../apis/meta/v1/list-options.ts';
import type { ResourceCache } from '../cache/resource-cache.ts';
import { MAX_TIMER_MS } from '../concurrency/bounded-signal.ts';
import type { TimeSlicer } from '../concurrency/time-slicer.ts';
import type { BodyHeaders } from '../http/response-writer.ts';
import { webSocketUpgrade } from '../http/web-socket.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import { Selection } from '../resources/selection.ts';
import type { WatchRepresentation } from './representation.ts';
import { Tables } from './tables.ts';
import { type ChunkEncoder, ChunkedOutput, type WatchOutput } from './watch-output.ts';
import { type InitialEventsBudget, type WatchEnd, type WatchLimits, WatchSession } from './watch-session.ts';
import { WebSocketOutput } from './web-socket-output.ts';

export interface WatchOptions extends WatchLimits {
  /** Interval of bookmarks in ms; 60,000 as in kube-apiserver. */
  readonly bookmarkIntervalMs: number;
  /**
   * Time in ms from the last bookmark to the timeout. It is short, so that the client resumes from a recent version.
   */
  readonly lastBookmarkMs: number;
  /** Minimum duration in seconds of a watch without `timeoutSeconds`. Its maximum duration is twice as long. */
  readonly minTimeoutSeconds: number;
  /** Maximum `timeoutSeconds`, or twice `minTimeoutSeconds` if that is longer. */
  readonly maxTimeoutSeconds: number;
  /** Returns a number in [0, 1) that spreads the ends of watches. */
  readonly random: () => number;
  /** Maximum size in bytes of initial events that wait for slow clients, in addition to one object per watch. */
  readonly maxInitialBytes: number;
  readonly observer?: WatchObserver;
}

/** Receives measurements for the metrics. */
export interface WatchObserver {
  /** `events` and `bytes` were sent to one watcher. */
  sent(events: number, bytes: number): void;
  ended(end: WatchEnd): void;
}

export interface WatchRequest<Facts> {
  readonly definition: ResourceDefinition<Facts>;
  readonly cache: ResourceCache<Facts>;
  readonly representation: WatchRepresentation<Facts>;
  /** Shared by all watches of the resource. */
  readonly chunks: ChunkEncoder;
  readonly initialEvents: InitialEventsBudget;
  readonly namespace: string;
  readonly options: WatchOptions;
  readonly headers: BodyHeaders;
  readonly slicer: TimeSlicer;
  /**
   * True if kube-apiserver can serve the watch instead: throws Expired before the response if the window no longer has
   * the resourceVersion, because the window of kube-apiserver may have it.
   */
  readonly forwardable: boolean;
  /** Ends the watch when it is aborted: with an ERROR event if the reason is a StatusError. */
  readonly ending?: AbortSignal | undefined;
}

const RELISTED = 'The objects were relisted before all of them were sent.';

export async function watch<Facts>(context: RequestContext, request: WatchRequest<Facts>): Promise<void> {
  const options = readListOptions(context.query, true);
  const isTable = request.representation instanceof Tables;
  const selection = new Selection(request.definition, options, request.namespace, isTable);
  // A response to HEAD has no events.
  if (context.request.method === 'HEAD') {
    context.response.writeHead(200, { ...request.headers }).end();
    return;
  }
  const { observer } = request.options;
  const output = newOutput(context, request);
  const session = new WatchSession<Facts>({ ...request, selection, output, limits: request.options });
  if (context.signal.aborted) return;
  const stop = (): void => session.finish('stopped');
  const { ending } = request;
  const end = (): void => {
    if (output.opened && ending?.reason instanceof StatusError) session.fail(ending.reason);
    else stop();
  };
  context.signal.addEventListener('abort', stop);
  ending?.addEventListener('abort', end);
  const timers = startTimers(session, options, request.options);
  try {
    await begin(context, request, options, session);
    const cause = await session.ended;
    observer?.ended(cause);
    if (cause === 'slow') context.log.warn('a watch was terminated: its client is too slow');
  } finally {
    // A session must finish to be unsubscribed. Before the headers are sent, an error is still a response.
    session.finish(output.opened ? 'failed' : 'refused');
    for (const timer of timers) clearTimeout(timer);
    context.signal.removeEventListener('abort', stop);
    ending?.removeEventListener('abort', end);
  }
}

function newOutput<Facts>(
  context: RequestContext,
  { chunks, headers, options: { observer } }: WatchRequest<Facts>,
): WatchOutput {
  const upgrade = context.upgrade && webSocketUpgrade(context);
  if (upgrade) return new WebSocketOutput(context, upgrade, observer);
  return new ChunkedOutput(context.response, chunks, observer, headers);
}

async function begin<Facts>(
  context: RequestContext,
  { cache, forwardable, slicer }: WatchRequest<Facts>,
  options: ListOptions,
  session: WatchSession<Facts>,
): Promise<void> {
  const { resourceVersion, sendInitialEvents } = options;
  const fromNow = resourceVersion === '' || resourceVersion === '0';
  if (!(sendInitialEvents ?? fromNow)) {
    resume(session, fromNow ? cache.snapshot().resourceVersion : resourceVersion, forwardable);
    return;
  }
  if (!fromNow) await cache.waitUntil(resourceVersion, context.signal);
  const { epoch } = cache;
  const snapshot = cache.snapshot();
  session.open();
  // Subscribes after the initial events, so that no changes are queued meanwhile. The window has these changes, or the
  // client relists. As in kube-apiserver, a client that allows bookmarks gets one after the initial events.
  const slices = slicer.of({ caller: context.caller });
  await session.sendInitial(snapshot, options.allowWatchBookmarks, slices);
  if (context.signal.aborted) return;
  try {
    // After a restore of etcd from a backup, the resourceVersion belongs to a different history.
    if (cache.epoch !== epoch) throw newExpired(RELISTED);
    session.subscribe(snapshot.resourceVersion);
    session.goLive();
  } catch (error) {
    session.fail(error);
  }
}

/**
 * Subscribes from a resourceVersion. As in kube-apiserver, an expired version is an ERROR event, because client-go's
 * RetryWatcher retries HTTP status 410 forever. Other errors are thrown, and become the response.
 */
function resume<Facts>(session: WatchSession<Facts>, from: string, forwardable: boolean): void {
  try {
    session.subscribe(from);
  } catch (error) {
    if (forwardable || !isExpired(error)) throw error;
    session.open();
    session.fail(error);
    return;
  }
  session.open();
  session.goLive();
}

function startTimers<Facts>(
  session: WatchSession<Facts>,
  { timeoutSeconds, allowWatchBookmarks }: ListOptions,
  options: WatchOptions,
): NodeJS.Timeout[] {
  const { minTimeoutSeconds, maxTimeoutSeconds } = options;
  const usual = minTimeoutSeconds * (1 + options.random());
  // A watch must end, because its permission is checked at the start only.
  const isTooLong = (timeoutSeconds ?? 0) > Math.max(2 * minTimeoutSeconds, maxTimeoutSeconds);
  const seconds = isTooLong ? usual : (timeoutSeconds ?? usual);
  const timeoutMs = Math.min(Math.max(0, seconds * 1000), MAX_TIMER_MS);
  const timers = [setTimeout(() => session.finish('timeout'), timeoutMs)];
  if (!allowWatchBookmarks) return timers;
  const bookmark = (): void => session.sendBookmark();
  timers.push(setInterval(bookmark, options.bookmarkIntervalMs));
  const { lastBookmarkMs } = options;
  if (timeoutMs > lastBookmarkMs) timers.push(setTimeout(bookmark, timeoutMs - lastBookmarkMs));
  return timers;
}
