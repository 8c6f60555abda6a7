// What watchers are told of: this folder makes a change once for all of them, keeps the latest, and fans them out. It
// knows no selections and no sockets.

import type { Logger } from 'pino';
import { newExpired } from '../../apis/meta/v1/errors.ts';
import { type CachedObject, ownBytes, placeObject, type ReadObject } from './cached-object.ts';
import { withResourceVersion } from './object-splice.ts';
import type { WatchEvent, WatchEventType, Watcher } from './resource-cache.ts';

/**
 * A change whose frame is where its object's bytes live: they are written once, as part of the line that most
 * watchers get. It keeps alive nothing but itself and the former object.
 */
export class Change<Facts> implements WatchEvent<Facts> {
  readonly type: WatchEventType;
  readonly resourceVersion: bigint;
  readonly object: CachedObject<Facts>;
  readonly previous: CachedObject<Facts> | undefined;
  readonly #frames = new Map<WatchEventType, Buffer>();
  #lastSelected: CachedObject<Facts> | undefined;

  constructor(type: WatchEventType, read: ReadObject<Facts>, previous: CachedObject<Facts> | undefined) {
    const start = LINE_STARTS[type];
    const frame = Buffer.allocUnsafeSlow(start.length + read.spliced.length + LINE_END.length);
    start.copy(frame);
    LINE_END.copy(frame, frame.length - LINE_END.length);
    this.type = type;
    this.resourceVersion = BigInt(read.identity.resourceVersion);
    this.object = placeObject(read.identity, read.spliced, frame, start.length);
    this.previous = previous && ownBytes(previous);
    this.#frames.set(type, frame);
  }

  /** Bytes of memory that it holds. */
  get size(): number {
    return this.object.bytes.length + (this.previous?.bytes.length ?? 0);
  }

  objectFor(type: WatchEventType): CachedObject<Facts> {
    if (type !== 'DELETED' || this.type === 'DELETED' || !this.previous) return this.object;
    this.#lastSelected ??= this.#previousAtThisVersion(this.previous);
    return this.#lastSelected;
  }

  frame(type: WatchEventType): Buffer {
    let frame = this.#frames.get(type);
    if (!frame) {
      frame = line(type, this.objectFor(type).bytes);
      this.#frames.set(type, frame);
    }
    return frame;
  }

  #previousAtThisVersion(previous: CachedObject<Facts>): CachedObject<Facts> {
    const resourceVersion = this.resourceVersion.toString();
    const spliced = withResourceVersion(previous.bytes, previous.metadata, resourceVersion);
    const bytes = Buffer.allocUnsafeSlow(spliced.length);
    return placeObject({ ...previous, resourceVersion }, spliced, bytes, 0);
  }
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

/** The last changes in their order, for watchers that come back. */
export class WatchWindow<Facts> {
  readonly #bounds: WindowBounds;
  readonly #now: () => number;
  /** Every change after this one is in the window. */
  #start: bigint;
  #entries: Entry<Facts>[] = [];
  /** Index of the oldest entry that counts: the array is cut only now and then. */
  #head = 0;
  #bytes = 0;

  /** `start`: the resourceVersion of the list that the changes follow. `now`: a monotonic clock in ms. */
  constructor(start: bigint, bounds: WindowBounds, now: () => number) {
    this.#start = start;
    this.#bounds = bounds;
    this.#now = now;
  }

  get length(): number {
    return this.#entries.length - this.#head;
  }

  push(change: Change<Facts>): void {
    this.#entries.push({ change, at: this.#now() });
    this.#bytes += change.size;
    this.trim();
  }

  /** Forgets what is beyond the bounds. */
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
    // Entries before the head hold their objects until they are cut off.
    if (this.#head > 64 || this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** The changes after `from`. Throws Expired when some of them are gone. */
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
  /** The watcher has everything up to here, or does not want it. */
  readonly from: bigint;
}

/** Tells the watchers. One that throws is dropped; the others never notice. */
export class FanOut<Facts> {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #subscriptions = new Set<Subscription<Facts>>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /** Tells `watcher` everything after `from`. Returns the function that ends it. */
  add(watcher: Watcher<Facts>, from: bigint): () => void {
    const subscription = { watcher, from };
    this.#subscriptions.add(subscription);
    return () => this.#subscriptions.delete(subscription);
  }

  change(change: Change<Facts>): void {
    this.#tell(change.resourceVersion, (watcher) => watcher.event(change));
  }

  bookmark(version: bigint, resourceVersion: string): void {
    this.#tell(version, (watcher) => watcher.bookmark(resourceVersion));
  }

  /** Ends all watchers and forgets them. */
  end(): void {
    const ended = [...this.#subscriptions];
    this.#subscriptions.clear();
    for (const { watcher } of ended) this.#guard(() => watcher.end());
  }

  #tell(version: bigint, tell: (watcher: Watcher<Facts>) => void): void {
    for (const subscription of this.#subscriptions) {
      // Also keeps a watcher that was added meanwhile, and has read the window, from hearing the same twice.
      if (version <= subscription.from) continue;
      const told = this.#guard(() => tell(subscription.watcher));
      if (!told) this.#subscriptions.delete(subscription);
    }
  }

  #guard(tell: () => void): boolean {
    try {
      tell();
      return true;
    } catch (error) {
      this.#log.warn({ err: error }, 'a watcher failed and was dropped');
      return false;
    }
  }
}

// A line of a watch: an object between what tells the type of the event and the end of the line.
type LineType = WatchEventType | 'BOOKMARK' | 'ERROR';

/** What stands before the object. */
export const LINE_STARTS: Readonly<Record<LineType, Buffer>> = {
  ADDED: start('ADDED'),
  MODIFIED: start('MODIFIED'),
  DELETED: start('DELETED'),
  BOOKMARK: start('BOOKMARK'),
  ERROR: start('ERROR'),
};

/** What stands behind it. */
export const LINE_END = Buffer.from('}\n');

/** The line for an object, whose bytes it copies. */
export function line(type: LineType, object: Buffer): Buffer {
  return Buffer.concat([LINE_STARTS[type], object, LINE_END]);
}

function start(type: LineType): Buffer {
  return Buffer.from(`{"type":"${type}","object":`);
}
