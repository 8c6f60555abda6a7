// Watch cache of one resource: the most recent changes, for watches from a past resourceVersion.

import type { Logger } from 'pino';
import { newExpired } from '../../apis/meta/v1/errors.ts';
import { Identity, type ReadObject } from './object-reader.ts';
import { withResourceVersion } from './object-splice.ts';
import type { CachedObject, WatchEvent, WatchEventType, Watcher } from './resource-cache.ts';
import { type StoredObject, storedAlone } from './stored-object.ts';

/** A change. It has separate buffers, so that it keeps no chunk of a snapshot in memory. */
export class Change<Facts> implements WatchEvent<Facts> {
  readonly type: WatchEventType;
  readonly resourceVersion: bigint;
  readonly object: StoredObject<Facts>;
  readonly previous: StoredObject<Facts> | undefined;
  /** Memory that only the change references, in bytes. */
  readonly size: number;
  #lastSelected: CachedObject<Facts> | undefined;

  constructor(type: WatchEventType, read: ReadObject<Facts>, previous: StoredObject<Facts> | undefined) {
    this.type = type;
    this.resourceVersion = BigInt(read.identity.resourceVersion);
    this.object = storedAlone(read);
    this.previous = previous?.detached();
    this.size = this.object.length + retainedBytes(this.previous);
  }

  objectFor(type: WatchEventType): CachedObject<Facts> {
    if (type !== 'DELETED' || this.type === 'DELETED' || !this.previous) return this.object;
    this.#lastSelected ??= this.#previousAtThisVersion(this.previous);
    return this.#lastSelected;
  }

  #previousAtThisVersion(previous: StoredObject<Facts>): CachedObject<Facts> {
    const resourceVersion = this.resourceVersion.toString();
    const spliced = withResourceVersion(previous.bytes, previous.metadata, resourceVersion);
    const { namespace, name, uid, checksum, labels, facts } = previous.identity;
    const identity = new Identity({ namespace, name, uid, resourceVersion, checksum, labels, facts });
    return storedAlone({ identity, spliced });
  }
}

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
