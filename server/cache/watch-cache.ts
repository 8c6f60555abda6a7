// Watch cache of one resource: the most recent changes, for watches from a past resourceVersion. The watch cache
// encodes each change once for all watchers.

import type { Logger } from 'pino';
import { newExpired } from '../../apis/meta/v1/errors.ts';
import { Identity, type ReadObject } from './object-reader.ts';
import { withResourceVersion } from './object-splice.ts';
import type { CachedObject, ObjectHead, WatchEvent, WatchEventType, Watcher } from './resource-cache.ts';
import { type StoredObject, storedAlone } from './stored-object.ts';

/**
 * A change, encoded once as the line that most watchers receive. If objects are stored completely, the bytes of the
 * object are a slice of this line. A change has separate buffers, so that it keeps no chunk of a snapshot in memory.
 */
export class Change<Facts> implements WatchEvent<Facts> {
  readonly type: WatchEventType;
  readonly resourceVersion: bigint;
  readonly object: StoredObject<Facts>;
  readonly previous: StoredObject<Facts> | undefined;
  readonly #head: ObjectHead;
  readonly #frames = new Map<WatchEventType, Buffer>();
  #lastSelected: CachedObject<Facts> | undefined;

  constructor(
    type: WatchEventType,
    read: ReadObject<Facts>,
    previous: StoredObject<Facts> | undefined,
    head: ObjectHead,
  ) {
    this.type = type;
    this.#head = head;
    this.resourceVersion = BigInt(read.identity.resourceVersion);
    const around = head.isStored ? ([LINE_STARTS[type], LINE_END] as const) : ([NOTHING, NOTHING] as const);
    this.object = storedAlone(read.identity, read.spliced, around);
    this.previous = previous?.detached();
    if (head.isStored) this.#frames.set(type, this.object.frame.open());
    this.size = this.object.length * (head.isStored ? 1 : LINE_COPIES) + retainedBytes(this.previous);
  }

  /** Memory that only the change references, in bytes. */
  readonly size: number;

  objectFor(type: WatchEventType): CachedObject<Facts> {
    if (type !== 'DELETED' || this.type === 'DELETED' || !this.previous) return this.object;
    this.#lastSelected ??= this.#previousAtThisVersion(this.previous);
    return this.#lastSelected;
  }

  frame(type: WatchEventType): Buffer {
    let frame = this.#frames.get(type);
    if (!frame) {
      frame = line(type, ...this.#head.complete(this.objectFor(type).bytes));
      this.#frames.set(type, frame);
    }
    return frame;
  }

  #previousAtThisVersion(previous: StoredObject<Facts>): CachedObject<Facts> {
    const resourceVersion = this.resourceVersion.toString();
    const spliced = withResourceVersion(previous.bytes, previous.metadata, resourceVersion);
    const { namespace, name, uid, checksum, labels, facts } = previous.identity;
    const identity = new Identity({ namespace, name, uid, resourceVersion, checksum, labels, facts });
    return storedAlone(identity, spliced, [NOTHING, NOTHING]);
  }
}

const NOTHING = Buffer.alloc(0);
/** The object and its line, which the first watcher causes. */
const LINE_COPIES = 2;

/** Memory of an object that was replaced. Its packed frame can contain large neighbours. */
function retainedBytes(previous: StoredObject<unknown> | undefined): number {
  if (!previous) return 0;
  const { frame, length, size } = previous;
  return size + (frame.packed ? frame.size : length);
}

export interface WindowBounds {
  readonly events: number;
  readonly ageMs: number;
  readonly bytes: number;
}

interface Entry<Facts> {
  readonly change: Change<Facts>;
  readonly at: number;
}

/** The window of past changes, from which a watch resumes. */
export class WatchWindow<Facts> {
  readonly #bounds: WindowBounds;
  readonly #now: () => number;
  /** The window contains every change after this version. */
  #start: bigint;
  #entries: Entry<Facts>[] = [];
  /** Index of the oldest entry of the window. Earlier entries are evicted, and removed when the array is compacted. */
  #head = 0;
  #bytes = 0;

  /** `start`: the resourceVersion of the list that precedes the changes. `now`: a monotonic clock in ms. */
  constructor(start: bigint, bounds: WindowBounds, now: () => number) {
    this.#start = start;
    this.#bounds = bounds;
    this.#now = now;
  }

  get length(): number {
    return this.#entries.length - this.#head;
  }

  /** Memory of the changes, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  push(change: Change<Facts>): void {
    this.#entries.push({ change, at: this.#now() });
    this.#bytes += change.size;
    this.trim();
  }

  /** Evicts entries beyond the bounds. */
  trim(): void {
    const oldest = this.#now() - this.#bounds.ageMs;
    for (;;) {
      const entry = this.#entries[this.#head];
      if (!entry) break;
      const fits = this.length <= this.#bounds.events && this.#bytes <= this.#bounds.bytes;
      if (fits && entry.at >= oldest) break;
      this.#start = entry.change.resourceVersion;
      this.#bytes -= entry.change.size;
      this.#head++;
    }
    if (this.#head > 64 || this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Returns the changes after `from`. Throws Expired if the window no longer has all of them. */
  since(from: bigint): Change<Facts>[] {
    if (from < this.#start) throw newExpired(`too old resource version: ${from} (${this.#start})`);
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.change.resourceVersion ?? from) > from) high = middle;
      else low = middle + 1;
    }
    return this.#entries.slice(low).map(({ change }) => change);
  }
}

interface Subscription<Facts> {
  readonly watcher: Watcher<Facts>;
  /** The watcher receives only changes after this version. */
  readonly from: bigint;
}

/** Sends changes to all watchers. A watcher that throws is unsubscribed; the others are not affected. */
export class FanOut<Facts> {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #subscriptions = new Set<Subscription<Facts>>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /** Subscribes `watcher` to the changes after `from`. Returns the function that unsubscribes it. */
  add(watcher: Watcher<Facts>, from: bigint): () => void {
    const subscription = { watcher, from };
    this.#subscriptions.add(subscription);
    return () => this.#subscriptions.delete(subscription);
  }

  change(change: Change<Facts>): void {
    this.#send(change.resourceVersion, (watcher) => watcher.event(change));
  }

  bookmark(version: bigint, resourceVersion: string): void {
    this.#send(version, (watcher) => watcher.bookmark(resourceVersion));
  }

  /** Ends and unsubscribes all watchers. */
  end(): void {
    const ended = [...this.#subscriptions];
    this.#subscriptions.clear();
    for (const { watcher } of ended) this.#guard(() => watcher.end());
  }

  #send(version: bigint, send: (watcher: Watcher<Facts>) => void): void {
    for (const subscription of this.#subscriptions) {
      // Prevents duplicates for a watcher that has read this change from the window.
      if (version <= subscription.from) continue;
      const delivered = this.#guard(() => send(subscription.watcher));
      if (!delivered) this.#subscriptions.delete(subscription);
    }
  }

  #guard(call: () => void): boolean {
    try {
      call();
      return true;
    } catch (error) {
      this.#log.warn({ err: error }, 'a watcher failed and was unsubscribed');
      return false;
    }
  }
}

/** Type of a line of a watch response. */
type LineType = WatchEventType | 'BOOKMARK' | 'ERROR';

/** The part of a line before the object. */
export const LINE_STARTS: Readonly<Record<LineType, Buffer>> = {
  ADDED: start('ADDED'),
  MODIFIED: start('MODIFIED'),
  DELETED: start('DELETED'),
  BOOKMARK: start('BOOKMARK'),
  ERROR: start('ERROR'),
};

/** The part of a line after the object. */
export const LINE_END = Buffer.from('}\n');

/** Returns the line of an event; copies the parts of the object. */
export function line(type: LineType, ...object: readonly Buffer[]): Buffer {
  return Buffer.concat([LINE_STARTS[type], ...object, LINE_END]);
}

function start(type: LineType): Buffer {
  return Buffer.from(`{"type":"${type}","object":`);
}
