// WatchSession: queues and sends the events of one open watch. A watch ends when the client reads too slowly.
import { isExpired, newInternalError, StatusError } from '../../apis/meta/v1/errors.ts';
import type {
  ResourceCache,
  Snapshot,
  WatchEvent,
  WatchEventType,
  Watcher,
} from '../cache/resource-cache.ts';
import type { TimeSlices } from '../concurrency/time-slicer.ts';
import type { Selection } from '../resources/selection.ts';
import type { WatchRepresentation } from './representation.ts';
import { line } from './watch-lines.ts';
import type { WatchOutput } from './watch-output.ts';

export interface WatchLimits {
  /** Maximum size in bytes of events that are queued for a slow client. Past events of the window do not count. */
  readonly maxPendingBytes: number;
  /** Time in ms within which the client must read all bytes that are queued in its socket. */
  readonly stallTimeoutMs: number;
}

/** Reason for the end of a watch, for logs and metrics. */
export type WatchEnd = 'timeout' | 'stopped' | 'relisted' | 'expired' | 'slow' | 'refused' | 'failed';

interface Pending<Facts> {
  readonly event: WatchEvent<Facts>;
  readonly type: WatchEventType;
}

interface WatchSessionOptions<Facts> {
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
  /** Events that wait until the session is live, or for a slow client. They are shared with other watchers. */
  #pending: Pending<Facts>[] = [];
  #pendingBytes = 0;
  #live = false;
  /** The resourceVersion for bookmarks: the client has received all selected changes up to it. */
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

  /**
   * Subscribes to changes after `from`. Events wait until `goLive`. Throws Expired if the window no longer has them.
   */
  subscribe(from: string): void {
    const { cache } = this.#options;
    const start = BigInt(from);
    // A watch from a future resourceVersion sends no events and no bookmarks until the cluster reaches it.
    if (start <= BigInt(cache.snapshot().resourceVersion)) this.#reached = start;
    this.#unsubscribe = cache.watch(from, this);
    // Past events are bounded by the window, which all watchers share. So only later events count.
    this.#pendingBytes = 0;
    if (this.#finished) this.#unsubscribe();
  }

  /** Sends the headers. */
  open(): void {
    const { output } = this.#options;
    output.open();
    // If the session has finished before open(), its output is not ended yet.
    if (this.#finished) output.end();
    else this.#offDrain = output.onDrain(() => this.#flush());
  }

  goLive(): void {
    this.#live = true;
    this.#flush();
  }

  /** Sends all selected objects of a snapshot as ADDED events, with backpressure. */
  async sendInitial(snapshot: Snapshot<Facts>, markEnd: boolean, slices: TimeSlices): Promise<void> {
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
    for (const object of selection.candidates(snapshot)) {
      if (slices.spent) await slices.next();
      if (this.#finished || output.closed) return;
      if (!selection.matches(object)) continue;
      add(representation.initial(object));
      if (size < initialEvents.chunk) continue;
      const left = send();
      if (output.waiting >= 2 * initialEvents.chunk) await this.#drained(left);
    }
    if (this.#finished || output.closed) return;
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
      this.finish('failed');
      // The client continues the watch, or relists. See Selection.
      if (isExpired(error)) return;
      // The cache unsubscribes a watcher that throws.
      throw error;
    }
  }

  bookmark(resourceVersion: string): void {
    this.#reached = BigInt(resourceVersion);
  }

  /** Ends the watch after a relist of the cache, when the queued events are sent. The client then relists. */
  end(): void {
    this.#relisted = true;
    if (this.#live) this.#flush();
  }

  /** Sends a bookmark, unless events are queued or the resourceVersion is not yet reached. */
  sendBookmark(): void {
    if (!this.#live || this.#pending.length > 0 || this.#reached === undefined || this.#finished) return;
    this.#options.output.write(this.#options.representation.bookmark(String(this.#reached), false));
  }

  /** Sends an ERROR event and ends the stream. Only for a stream whose headers are sent. */
  fail(error: unknown): void {
    const status = error instanceof StatusError ? error : newInternalError(error);
    this.#options.output.write(line('ERROR', Buffer.from(JSON.stringify(status.toStatus()))));
    this.finish('expired');
  }

  /** Ends the stream. For a slow client and after an internal error, destroys the connection. */
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

  /** Waits until the written events have left the queue, or the session has ended. */
  async #drained(left: Promise<void>): Promise<void> {
    const release = this.#options.initialEvents.take(this.#options.output.waiting);
    this.#watchStall();
    await Promise.race([left, this.ended]);
    release();
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }
}

/** Maximum and usual size in bytes of a chunk of initial events. */
const USUAL_CHUNK = 128 * 1024;
/** Minimum size in bytes of a chunk, about one object. A smaller chunk would save no memory. */
const SMALLEST_CHUNK = 8 * 1024;

/**
 * Memory budget for initial events that wait for slow clients, shared by all watches of a resource. The size of chunks
 * decreases with the remaining budget.
 */
export class InitialEventsBudget {
  readonly #bytes: number;
  #taken = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Size of the next chunk in bytes. A watch waits when its socket has queued twice this size. */
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
