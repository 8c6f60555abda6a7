// Watch: from a resourceVersion, or beginning with all that is there; until the client, the time or the server ends it.
// This folder owns the stream to one watcher, over HTTP or a WebSocket; which events there are is the cache's business.
import { isExpired, newExpired } from '../../../apis/meta/v1/errors.ts';
import { type ListOptions, readListOptions } from '../../../apis/meta/v1/list-options.ts';
import type { ResourceCache } from '../../cache/resource-cache.ts';
import type { RequestContext } from '../../request/request-context.ts';
import type { ResourceDefinition } from '../../resources/resource-definition.ts';
import { Selection } from '../../resources/selection.ts';
import { JSON_HEADERS } from '../response.ts';
import { webSocketUpgrade } from '../web-socket.ts';
import type { WatchRepresentation } from './representation.ts';
import { type ChunkEncoder, ChunkedOutput, type WatchOutput } from './watch-output.ts';
import { type InitialEventsBudget, type WatchEnd, type WatchLimits, WatchSession } from './watch-session.ts';
import { WebSocketOutput } from './web-socket-output.ts';

export interface WatchOptions extends WatchLimits {
  /** Milliseconds between bookmarks; 60,000 as in kube-apiserver. */
  readonly bookmarkIntervalMs: number;
  /** The last bookmark comes this many milliseconds before the end, so that a client resumes from near it. */
  readonly lastBookmarkMs: number;
  /** Seconds a watch without `timeoutSeconds` lasts at least; at most twice as long. */
  readonly minTimeoutSeconds: number;
  /** Seconds that a watch may ask for, or twice `minTimeoutSeconds` where that is longer. */
  readonly maxTimeoutSeconds: number;
  /** In [0, 1): spreads the ends of watches. */
  readonly random: () => number;
  /** Bytes of initial events that may wait for all slow readers together, beyond one object for each. */
  readonly maxInitialBytes: number;
  readonly observer?: WatchObserver;
}

/** What operators may want to count. */
export interface WatchObserver {
  /** So many events, in so many bytes, were sent to one watcher. */
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
}

const RELISTED = 'The objects were listed anew before all of them had been sent.';

/** What a timer of Node can wait for. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export async function watch<Facts>(context: RequestContext, request: WatchRequest<Facts>): Promise<void> {
  const options = readListOptions(context.query, true);
  const selection = new Selection(request.definition, options, request.namespace);
  // An answer to HEAD has no events, and need not wait for any.
  if (context.request.method === 'HEAD') {
    context.response.writeHead(200, JSON_HEADERS).end();
    return;
  }
  const { observer } = request.options;
  const output = newOutput(context, request);
  const session = new WatchSession<Facts>({ ...request, selection, output, limits: request.options });
  if (context.signal.aborted) return;
  const stop = (): void => session.finish('stopped');
  context.signal.addEventListener('abort', stop);
  const timers = startTimers(session, options, request.options);
  try {
    await begin(context, request, options, session);
    const end = await session.ended;
    observer?.ended(end);
    if (end === 'slow') context.log.warn('a watch was cut off, since its client did not keep up with it');
  } finally {
    // Whatever happened: a session that is not finished would stay with the cache forever. What is refused before
    // the headers are out is still to be answered.
    session.finish(output.opened ? 'failed' : 'refused');
    for (const timer of timers) clearTimeout(timer);
    context.signal.removeEventListener('abort', stop);
  }
}

function newOutput<Facts>(
  context: RequestContext,
  { chunks, options: { observer } }: WatchRequest<Facts>,
): WatchOutput {
  const upgrade = webSocketUpgrade(context);
  if (upgrade) return new WebSocketOutput(context, upgrade, observer);
  return new ChunkedOutput(context.response, chunks, observer);
}

async function begin<Facts>(
  context: RequestContext,
  { cache }: WatchRequest<Facts>,
  options: ListOptions,
  session: WatchSession<Facts>,
): Promise<void> {
  const { resourceVersion, sendInitialEvents } = options;
  const fromNow = resourceVersion === '' || resourceVersion === '0';
  if (!(sendInitialEvents ?? fromNow)) {
    resume(session, fromNow ? cache.snapshot().resourceVersion : resourceVersion);
    return;
  }
  if (!fromNow) await cache.waitUntil(resourceVersion, context.signal);
  const { epoch } = cache;
  const snapshot = cache.snapshot();
  session.open();
  // Subscribes only now, so that no events have to wait meanwhile: the window has them, or the client starts again. As in
  // kube-apiserver, a client that takes bookmarks is told where the initial events end even if it did not ask for them.
  await session.sendInitial(snapshot, options.allowWatchBookmarks);
  if (context.signal.aborted) return;
  try {
    // After etcd was restored from a backup the same resourceVersions come again, and mean something else.
    if (cache.epoch !== epoch) throw newExpired(RELISTED);
    session.subscribe(snapshot.resourceVersion);
    session.goLive();
  } catch (error) {
    session.fail(error);
  }
}

/**
 * As in kube-apiserver, a past that is gone is told by an event: client-go's RetryWatcher takes the HTTP status 410 for
 * a fault that passes, and would ask for ever. What else fails is still to be answered, such as a cache to be filled.
 */
function resume<Facts>(session: WatchSession<Facts>, from: string): void {
  try {
    session.subscribe(from);
  } catch (error) {
    if (!isExpired(error)) throw error;
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
  // Who may watch is asked at its beginning, so it must not last for ever.
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
