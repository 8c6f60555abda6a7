// One watcher as the cache sees it: what it is sent of each change, what waits for it, and when it is cut off.
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
  /** Bytes of events that may wait for one slow reader, beyond what the window held when it came. */
  readonly maxPendingBytes: number;
  /** Milliseconds in which a reader must take at least what its socket holds. */
  readonly stallTimeoutMs: number;
}

/** Why a watch ended, for logs and metrics. */
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
  /** Until the headers are out, and while the reader is behind, events wait here: shared ones, not copies. */
  #pending: Pending<Facts>[] = [];
  #pendingBytes = 0;
  #live = false;
  /** Everything up to here was delivered, or is not selected. */
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

  /** Subscribes behind `from`. What the window holds waits until `goLive`. Throws Expired when it is not in it. */
  subscribe(from: string): void {
    const { cache } = this.#options;
    const start = BigInt(from);
    // A watch from the future is silent, bookmarks included, until the cluster gets there.
    if (start <= BigInt(cache.snapshot().resourceVersion)) this.#reached = start;
    this.#unsubscribe = cache.watch(from, this);
    // The window is shared and bounded by itself: only what comes after it counts against this reader.
    this.#pendingBytes = 0;
    if (this.#finished) this.#unsubscribe();
  }

  /** Sends the headers, then what has come meanwhile, then events as they come. */
  open(): void {
    const { output } = this.#options;
    output.open();
    // Its time may have been over before there was anything to send: then there was nothing to end either.
    if (this.#finished) output.end();
    else this.#offDrain = output.onDrain(() => this.#flush());
  }

  goLive(): void {
    this.#live = true;
    this.#flush();
  }

  /** All selected objects of a snapshot as ADDED events, as fast as the reader takes them. */
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
      if (output.waiting >= 2 * initialEvents.chunk) await this.#taken(left);
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
      // The cache drops a watcher that throws: its client must see the end, or it would wait forever.
      this.finish('failed');
      throw error;
    }
  }

  bookmark(resourceVersion: string): void {
    this.#reached = BigInt(resourceVersion);
  }

  /** The cache was filled anew: what waits still goes out, then the client lists again. */
  end(): void {
    this.#relisted = true;
    if (this.#live) this.#flush();
  }

  /** How far this watcher has got; nothing while it is behind or has not got anywhere yet. */
  sendBookmark(): void {
    if (!this.#live || this.#pending.length > 0 || this.#reached === undefined || this.#finished) return;
    this.#options.output.write(this.#options.representation.bookmark(String(this.#reached), false));
  }

  /** The last word of a stream whose headers are out: an ERROR event with a Status. */
  fail(error: unknown): void {
    const status = error instanceof StatusError ? error : newInternalError(error);
    this.#options.output.write(line('ERROR', Buffer.from(JSON.stringify(status.toStatus()))));
    this.finish('expired');
  }

  /** Ends the stream; cleanly, unless the reader is too slow or something broke. */
  finish(end: WatchEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#stall);
    this.#unsubscribe();
    this.#offDrain();
    this.#pending = [];
    if (end === 'slow' || end === 'failed') this.#options.output.cut();
    else this.#options.output.end();
    this.#resolve(end);
  }

  #deliver(event: WatchEvent<Facts>, type: WatchEventType): void {
    const { output, representation, limits } = this.#options;
    if (this.#live && this.#pending.length === 0 && output.ready) {
      // The way of nearly every event to nearly every watcher.
      output.write(representation.event(event, type));
      return;
    }
    this.#pending.push({ event, type });
    this.#pendingBytes += event.object.bytes.length;
    if (!this.#live) return;
    if (this.#pendingBytes > limits.maxPendingBytes) this.#cut();
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
    this.#stall ??= setTimeout(() => this.#cut(), this.#options.limits.stallTimeoutMs);
  }

  #cut(): void {
    this.finish('slow');
  }

  /** Resolves when what was written has `left`, or the session has ended. */
  async #taken(left: Promise<void>): Promise<void> {
    const leave = this.#options.initialEvents.take(this.#options.output.waiting);
    this.#watchStall();
    await Promise.race([left, this.ended]);
    leave();
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }
}

/** Bytes of initial events that are joined into one chunk. */
const USUAL_CHUNK = 128 * 1024;
/** About one object: smaller chunks would make each watch slower without saving more memory. */
const SMALLEST_CHUNK = 8 * 1024;

/**
 * The memory in which initial events wait for slow readers, shared by all watches of a resource. While there
 * is plenty it slows nothing down; the less is left, the less is prepared ahead for each watch.
 */
export class InitialEventsBudget {
  readonly #bytes: number;
  #taken = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** How large the next chunk should be. Twice as much may wait in a socket before its watch does. */
  get chunk(): number {
    return Math.min(USUAL_CHUNK, Math.max(SMALLEST_CHUNK, (this.#bytes - this.#taken) / 4));
  }

  /** Counts `bytes` as waiting until the returned function is called, once. */
  take(bytes: number): () => void {
    this.#taken += bytes;
    return () => {
      this.#taken -= bytes;
    };
  }
}
