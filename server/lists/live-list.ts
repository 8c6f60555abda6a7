// Live lists: Server-Sent Events with the current page of a list, sent when the page changes. The server checks the
// caller's permissions before each event.
import { StatusError } from '../../apis/meta/v1/errors.ts';
import type { Seats } from '../admission/seats.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { pause } from '../concurrency/pause.ts';
import type { TimeSlicer, TimeSlices } from '../concurrency/time-slicer.ts';
import { Wakeup } from '../concurrency/wakeup.ts';
import { GONE, StreamBody, streamHeaders } from '../http/stream-body.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { ListScope, PlatformLists } from './kind-lists.ts';
import type { LivePage } from './live-pages.ts';

export interface LiveOptions {
  /** Minimum time between two events, in ms. */
  readonly intervalMs: number;
  /** Interval of heartbeats and of permission checks without a change, in ms; 15,000 by default. */
  readonly heartbeatMs?: number;
  /** Time without progress of the reader in ms; 30,000 by default. */
  readonly stallMs?: number;
  /** The seats for the computation of pages, shared fairly by callers. Without them, each page is computed at once. */
  readonly seats?: Seats;
}

interface LiveList {
  /** Returns the lists of the kind. They change when the definition of the kind changes. */
  lists(): Promise<PlatformLists>;
  /** Returns the namespaces of the list. Throws Forbidden when the caller is no longer allowed to list them. */
  scope(): Promise<ListScope>;
}

/** Writes the events until the client disconnects, the server stops, or the caller loses the permission. */
export async function writeLive(
  context: RequestContext,
  live: LiveList,
  { intervalMs, heartbeatMs = 15_000, stallMs = 30_000, seats }: LiveOptions,
  slicer: TimeSlicer,
): Promise<void> {
  const { request, response, signal } = context;
  const slices = slicer.of(context);
  const changes = new Wakeup();
  const body = new StreamBody(response, { gzip: false, stallMs });
  let followed: PlatformLists | undefined;
  let unsubscribe = (): void => undefined;
  let sent = String(request.headers['last-event-id'] ?? '');
  let silence = boundedSignal(signal, heartbeatMs);
  try {
    while (!signal.aborted) {
      // A change wakes all live lists at once.
      await slices.next();
      const lists = await live.lists();
      if (lists !== followed) {
        unsubscribe();
        unsubscribe = lists.onChange(() => changes.wake());
        followed = lists;
      }
      const scope = await live.scope();
      const page = await inTurn(context, seats, slices, () => lists.livePage(context, scope));
      if (!response.headersSent) {
        response.writeHead(200, streamHeaders('text/event-stream')).flushHeaders();
        if (request.method === 'HEAD') break;
      }
      const id = page.tag.slice(1, -1);
      // Nothing for a change outside the page: its time would reveal changes in namespaces of others.
      if (id !== sent || silence.signal.aborted) {
        if (id === sent) await body.write(':\n');
        else for await (const part of eventOf(page, id, context)) await body.write(part);
        sent = id;
        silence[Symbol.dispose]();
        silence = boundedSignal(signal, heartbeatMs);
      }
      await pause(intervalMs, signal);
      await changes.next(silence.signal);
    }
  } catch (error) {
    if (!response.headersSent || error === GONE) throw error;
    if (signal.aborted) return;
    await body.write(failure(error));
    if (!(error instanceof StatusError)) throw error;
  } finally {
    silence[Symbol.dispose]();
    unsubscribe();
    if (response.headersSent) await body.end();
  }
}

/**
 * Computes a page when the caller gets a seat. The seat is not held while the client reads. The event loop handles other events
 * between two pages, whose output takes time too.
 */
async function inTurn(
  context: RequestContext,
  seats: Seats | undefined,
  slices: TimeSlices,
  work: () => Promise<LivePage>,
): Promise<LivePage> {
  using _seat = await seats?.take(context.caller, context);
  await slices.next();
  return await work();
}

async function* eventOf(
  page: LivePage,
  id: string,
  context: RequestContext,
): AsyncGenerator<string | Buffer> {
  yield `event: page\nid: ${id}\ndata: `;
  yield* page.json(context);
  yield '\n\n';
}

/** Without internal text. */
function failure(error: unknown): string {
  const status =
    error instanceof StatusError
      ? { code: error.code, message: error.message }
      : { code: 500, message: 'the live list failed' };
  return `event: failure\ndata: ${JSON.stringify(status)}\n\n`;
}
