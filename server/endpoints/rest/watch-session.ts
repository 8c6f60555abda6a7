// A watcher of the cache for one client: selects and queues events, and terminates a client that is too slow.
import { newInternalError, StatusError } from '../../../apis/meta/v1/errors.ts';
import type {
  ResourceCache,
  Snapshot,
  WatchEvent,
  WatchEventType,
  Watcher,
} from '../../cache/resource-cache.ts';
import { line } from '../../cache/watch-cache.ts';
import type { Selection } from '../../resources/selection.ts';
import type { WatchRepresentation } from './representation.ts';
import type { WatchOutput } from './watch-output.ts';

export interface WatchLimits {
  /** Maximum size of queued events for a slow client, in addition to those in the window when it subscribed. */
  readonly maxPendingBytes: number;
  /** Time in ms within which the client must drain its socket. */
  readonly stallTimeoutMs: number;
}

/** Reason for the end of a watch, for logs and metrics. */
export type WatchEnd = 'timeout' | 'stopped' | 'relisted' | 'expired' | 'slow' | 'refused' | 'failed';

interface Pending<Facts> {
  readonly event: WatchEvent<Facts>;
  readonly type: WatchEventType;
}

export interface WatchSessionOptions<Facts> {
  readonly cache: ResourceCache<Facts>;
  readonly selection: Selection<Facts>;
  readonly representation: WatchRepresentation<Facts>;
  readonly output: WatchOutput;
  readonly limits: WatchLimits;
  readonly initialEvents: InitialEventsBudget;
}

export class WatchSession<Facts> implements Watcher<Facts> {
  readonly ended: Promise<WatchEnd>;
  readonly #options: WatchSessionOptions<Facts>;
  readonly #resolve: (end: WatchEnd) => void;
  #finished = false;
  #relisted = false;
  /** Events queued until the headers are sent and while the client is slow; shared, not copied. */
  #pending: Pending<Facts>[] = [];
  #pendingBytes = 0;
  #live = false;
  /** Everything up to this version was delivered, or is not selected. */
  #reached: bigint | undefined;
  #stall: NodeJS.Timeout | undefined;
  #unsubscribe: () => void = () => undefined;
  #offDrain: () => void = () => undefined;

  constructor(options: WatchSessionOptions<Facts>) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<WatchEnd>();
    this.ended = promise;
    this.#resolve = resolve;
  }

  /** Subscribes after `from`. Past events wait until `goLive`. Throws Expired when the window no longer has them. */
  subscribe(from: string): void {
    const { cache } = this.#options;
    const start = BigInt(from);
    // A watch from a future resourceVersion is silent until the cluster reaches it, bookmarks included.
    if (start <= BigInt(cache.snapshot().resourceVersion)) this.#reached = start;
    this.#unsubscribe = cache.watch(from, this);
    // The window is shared and bounded itself; only later events count against this client.
    this.#pendingBytes = 0;
    if (this.#finished) this.#unsubscribe();
  }

  /** Sends the headers. */
  open(): void {
    const { output } = this.#options;
    output.open();
    // The session can finish before open(), and then there was nothing to end.
    if (this.#finished) output.end();
    else this.#offDrain = output.onDrain(() => this.#flush());
  }

  goLive(): void {
    this.#live = true;
    this.#flush();
  }

  /** Sends all selected objects of a snapshot as ADDED events, with backpressure. */
  async sendInitial(snapshot: Snapshot<Facts>, markEnd: boolean): Promise<void> {
    const { output, selection, representation, initialEvents } = this.#options;
    let batch: (readonly Buffer[])[] = [];
    let size = 0;
    const add = (event: readonly Buffer[]): void => {
      batch.push(event);
      for (const part of event) size += part.length;
    };
    const send = (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (batch.length > 0) output.writeBatch(batch, size, resolve);
      batch = [];
      size = 0;
      return promise;
    };
    for (const object of snapshot.objects()) {
      if (!selection.matches(object)) continue;
      add(representation.initial(object));
      if (size < initialEvents.chunk) continue;
      const left = send();
      if (output.waiting >= 2 * initialEvents.chunk) await this.#drained(left);
      if (this.#finished || output.closed) return;
    }
    if (markEnd) add([representation.bookmark(snapshot.resourceVersion, true)]);
    void send();
  }

  event(event: WatchEvent<Facts>): void {
    this.#reached = event.resourceVersion;
    if (this.#finished) return;
    try {
      const type = this.#options.selection.transition(event);
      if (type !== undefined) this.#deliver(event, type);
    } catch (error) {
      // The cache drops a watcher that throws; its client must see the end of the stream.
      this.finish('failed');
      throw error;
    }
  }

  bookmark(resourceVersion: string): void {
    this.#reached = BigInt(resourceVersion);
  }

  /** The cache was relisted: sends the queued events and ends, so that the client relists. */
  end(): void {
    this.#relisted = true;
    if (this.#live) this.#flush();
  }

  /** Sends a bookmark, unless events are queued or there is no version yet. */
  sendBookmark(): void {
    if (!this.#live || this.#pending.length > 0 || this.#reached === undefined || this.#finished) return;
    this.#options.output.write(this.#options.representation.bookmark(String(this.#reached), false));
  }

  /** Ends a stream whose headers are sent with an ERROR event. */
  fail(error: unknown): void {
    const status = error instanceof StatusError ? error : newInternalError(error);
    this.#options.output.write(line('ERROR', Buffer.from(JSON.stringify(status.toStatus()))));
    this.finish('expired');
  }

  /** Ends the stream; destroys the connection of a slow client and after an internal error. */
  finish(end: WatchEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#stall);
    this.#unsubscribe();
    this.#offDrain();
    this.#pending = [];
    if (end === 'slow' || end === 'failed') this.#options.output.terminate();
    else this.#options.output.end();
    this.#resolve(end);
  }

  #deliver(event: WatchEvent<Facts>, type: WatchEventType): void {
    const { output, representation, limits } = this.#options;
    if (this.#live && this.#pending.length === 0 && output.ready) {
      // The common case.
      output.write(representation.event(event, type));
      return;
    }
    this.#pending.push({ event, type });
    this.#pendingBytes += event.object.bytes.length;
    if (!this.#live) return;
    if (this.#pendingBytes > limits.maxPendingBytes) this.#terminate();
    else this.#watchStall();
  }

  #flush(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    if (!this.#live || this.#finished) return;
    const { output, representation } = this.#options;
    let sent = 0;
    for (const { event, type } of this.#pending) {
      if (!output.ready) break;
      output.write(representation.event(event, type));
      this.#pendingBytes = Math.max(0, this.#pendingBytes - event.object.bytes.length);
      sent += 1;
    }
    this.#pending.splice(0, sent);
    if (this.#pending.length > 0) {
      this.#watchStall();
      return;
    }
    this.#pendingBytes = 0;
    if (this.#relisted) this.finish('relisted');
  }

  #watchStall(): void {
    this.#stall ??= setTimeout(() => this.#terminate(), this.#options.limits.stallTimeoutMs);
  }

  #terminate(): void {
    this.finish('slow');
  }

  /** Waits until the written events have `left`, or the session has ended. */
  async #drained(left: Promise<void>): Promise<void> {
    const release = this.#options.initialEvents.take(this.#options.output.waiting);
    this.#watchStall();
    await Promise.race([left, this.ended]);
    release();
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }
}

/** Default chunk of initial events in bytes. */
const USUAL_CHUNK = 128 * 1024;
/** About one object; smaller chunks slow a watch down without saving memory. */
const SMALLEST_CHUNK = 8 * 1024;

/**
 * Memory budget for initial events that wait for slow clients, shared by all watches of a resource. The less is left,
 * the smaller the chunks.
 */
export class InitialEventsBudget {
  readonly #bytes: number;
  #taken = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Size of the next chunk. A watch waits when twice as much is queued in its socket. */
  get chunk(): number {
    return Math.min(USUAL_CHUNK, Math.max(SMALLEST_CHUNK, (this.#bytes - this.#taken) / 4));
  }

  /** Counts `bytes` as waiting until the returned function is called. */
  take(bytes: number): () => void {
    this.#taken += bytes;
    return () => {
      this.#taken -= bytes;
    };
  }
}
