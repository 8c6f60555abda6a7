// Informer cache of one resource: the current snapshot, past snapshots and the watch cache. The cache never sends
// requests to kube-apiserver.
import type { Logger } from 'pino';
import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import type { Member } from '../cluster/reflector/raw-json.ts';
import type { ReflectorSink, Replacement } from '../cluster/reflector/reflector-sink.ts';
import type { ChangeType, EventMetadata } from '../cluster/reflector/watch-stream.ts';
import { type CacheContent, ObjectReader, type ObjectSource, type ReadObject } from './object-reader.ts';
import type { ObjectSnapshot } from './object-snapshot.ts';
import type { ObjectHead, ResourceCache, WatchEvent, Watcher } from './resource-cache.ts';
import { SnapshotBuilder } from './snapshot-builder.ts';
import { type HistoryBounds, SnapshotHistory } from './snapshot-history.ts';
import { type FrameFactory, PLAIN_FRAMES } from './stored-object.ts';
import { newTooLargeVersion, VersionWaiters, versionOf } from './version-waiters.ts';
import { Change, FanOut, WatchWindow, type WindowBounds } from './watch-cache.ts';

interface CacheOptions<Facts> {
  readonly definition: ObjectSource<Facts>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly window: WindowBounds;
  readonly history: HistoryBounds;
  /** Brings this cache to the resourceVersion `target`, see `catchUp`. */
  readonly probe: (target: bigint, signal: AbortSignal) => Promise<void>;
  /** Time limit of a read that waits for a resourceVersion, in ms. */
  readonly waitMs: number;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** How the bytes are stored; plain by default. */
  readonly frames?: FrameFactory;
  /** Called when the cache grows by about this number of bytes. It can release the objects. */
  readonly growing?: (bytes: number) => void;
  /** What the first list stores; objects by default. */
  readonly content?: CacheContent;
}

/** Called with a change of an object; with undefined after a list and after `clear`, which can change any object. It must not throw. */
type ChangeListener<Facts> = (change: WatchEvent<Facts> | undefined) => void;

export class InformerCache<Facts> implements ResourceCache<Facts>, ReflectorSink {
  readonly #options: CacheOptions<Facts>;
  readonly #reader: ObjectReader<Facts>;
  readonly #history: SnapshotHistory<Facts>;
  readonly #fanOut: FanOut<Facts>;
  readonly #waiters: VersionWaiters;
  #window: WatchWindow<Facts>;
  #current: ObjectSnapshot<Facts> | undefined;
  #epoch = 0;
  /** The list that is loading. */
  #loading: SnapshotBuilder<Facts> | undefined;
  readonly #listeners = new Set<ChangeListener<Facts>>();
  /** What the current snapshot contains, and what the next list will store. */
  #content: CacheContent;
  #wanted: CacheContent;
  /** True after the first object that could not be read, which is logged once. */
  #hasUnreadable = false;

  constructor(options: CacheOptions<Facts>) {
    this.#options = options;
    this.#content = options.content ?? 'objects';
    this.#wanted = this.#content;
    this.#reader = new ObjectReader(options.definition);
    this.#history = new SnapshotHistory(options.history, options.now);
    this.#window = new WatchWindow(0n, options.window, options.now);
    this.#fanOut = new FanOut(options.log);
    this.#waiters = new VersionWaiters({
      timeoutMs: options.waitMs,
      probeDelayMs: 25,
      retryMs: 1000,
      probe: options.probe,
      current: () => this.#current?.version ?? 0n,
    });
  }

  /** `kind` and `apiVersion` of the objects. */
  get head(): ObjectHead {
    return this.#reader.head;
  }

  /** True after the first list, also while the cache has only facts. */
  get synced(): boolean {
    return this.#current !== undefined;
  }

  get content(): CacheContent {
    return this.#content;
  }

  /** What the cache has after the list that is loading. */
  get wanted(): CacheContent {
    return this.#wanted;
  }

  /** True while a list is loading, or after it failed. */
  get loading(): boolean {
    return this.#loading !== undefined;
  }

  get currentResourceVersion(): string | undefined {
    return this.#current?.resourceVersion;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Memory of the objects, of past events and lists, and of the list that is loading, in bytes. */
  get bytes(): number {
    return (this.#current?.bytes() ?? 0) + this.#window.bytes + this.#history.bytes + this.loadingBytes;
  }

  /** Memory of the list that is loading, which replaces the objects, in bytes. */
  get loadingBytes(): number {
    return this.#loading?.bytes ?? 0;
  }

  /** Number of watchers. */
  get watchers(): number {
    return this.#fanOut.size;
  }

  /** Throws ServiceUnavailable while the cache has only facts, so that no response contains an object without its bytes. */
  snapshot(): ObjectSnapshot<Facts> {
    if (this.#content === 'facts') throw newServiceUnavailable('the cache has no objects yet');
    return this.facts();
  }

  /** Returns the current snapshot, for readers of facts: its objects can be without bytes and labels. */
  facts(): ObjectSnapshot<Facts> {
    if (!this.#current) throw newServiceUnavailable('the cache is not yet synced');
    return this.#current;
  }

  /** Sets what the next list stores. For `facts`, releases the objects at once. */
  setContent(content: CacheContent): void {
    this.#wanted = content;
    if (content === 'objects') return;
    this.#loading = undefined;
    if (this.#current && this.#content === 'objects') this.#releaseObjects(this.#current);
  }

  /** Releases everything. The cache is not synced until the next list. */
  clear(): void {
    this.#replace(undefined, this.#content);
  }

  #releaseObjects(current: ObjectSnapshot<Facts>): void {
    const builder = new SnapshotBuilder<Facts>();
    for (const { identity } of current.objects()) builder.add(this.#reader.reduced(identity));
    this.#replace(builder.build(current.version), 'facts');
  }

  snapshotAt(resourceVersion: string): ObjectSnapshot<Facts> {
    const current = this.snapshot();
    const version = versionOf(resourceVersion);
    if (version === current.version) return current;
    if (version > current.version) throw newTooLargeVersion(version, current.version);
    this.#history.trim();
    return this.#history.at(version);
  }

  async waitUntil(resourceVersion: string, signal: AbortSignal): Promise<void> {
    this.snapshot();
    await this.#waiters.wait(versionOf(resourceVersion), signal);
  }

  watch(from: string, watcher: Watcher<Facts>): () => void {
    const current = this.snapshot();
    const version = versionOf(from);
    this.#window.trim();
    const missed = this.#window.since(version);
    // Subscribes before the replay of missed changes, so that no change during the replay is lost.
    const end = this.#fanOut.add(watcher, version > current.version ? version : current.version);
    try {
      for (const change of missed) watcher.event(change);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** Calls `changed` after each change of the objects, until the returned function is called. */
  onChange(changed: ChangeListener<Facts>): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  replacement(): Replacement {
    const { frames = PLAIN_FRAMES, growing } = this.#options;
    const content = this.#wanted;
    const builder = new SnapshotBuilder<Facts>(content === 'objects' ? frames : PLAIN_FRAMES);
    this.#loading = builder;
    return {
      add: (object, members) => {
        const read = this.#read(object, members, content);
        if (!read) return;
        builder.add(this.#content === content ? this.#known(read) : read);
        growing?.(read.spliced.length + read.identity.size);
      },
      commit: (resourceVersion) => {
        if (this.#loading !== builder) throw new Error('the content of the cache was released meanwhile');
        this.#replace(builder.build(versionOf(resourceVersion)), content);
        this.setContent(this.#wanted);
      },
    };
  }

  /** Returns undefined for an object that cannot be stored. It must not stop the cache of all others. */
  #read(
    raw: Buffer,
    members: readonly Member[] | undefined,
    content: CacheContent,
  ): ReadObject<Facts> | undefined {
    try {
      return this.#reader.read(raw, members, content);
    } catch (err) {
      if (!this.#hasUnreadable) this.#options.log.warn({ err }, 'an object cannot be read, and is left out');
      this.#hasUnreadable = true;
      return undefined;
    }
  }

  /** Returns the object with the identity that the cache has, so that indexes see no change after a relist. */
  #known(read: ReadObject<Facts>): ReadObject<Facts> {
    const { uid, resourceVersion, checksum, key } = read.identity;
    const identity = this.#current?.get(key)?.identity;
    const isSame =
      identity?.checksum === checksum && identity.resourceVersion === resourceVersion && identity.uid === uid;
    return isSame ? { ...read, identity } : read;
  }

  apply(type: ChangeType, raw: Buffer, _metadata?: EventMetadata, members?: readonly Member[]): void {
    const current = this.facts();
    const read = this.#read(raw, members, this.#content);
    if (!read) return;
    const version = BigInt(read.identity.resourceVersion);
    // The probe and the reflector deliver some events twice.
    if (version <= current.version) return;
    const { key } = read.identity;
    const previous = current.get(key);
    const isDeleted = type === 'DELETED';
    if (isDeleted && !previous) return this.#advance(current.at(version), 0);
    const change = new Change(isDeleted ? type : previous ? 'MODIFIED' : 'ADDED', read, previous);
    const next = isDeleted ? current.without(version, key) : current.with(version, change.object, previous);
    this.#window.push(change);
    this.#advance(next, current.pinnedBy(key));
    this.#fanOut.change(change);
    for (const changed of this.#listeners) changed(change);
    // The objects and the window of past events have a copy each.
    this.#options.growing?.(2 * read.spliced.length + read.identity.size);
  }

  bookmark(resourceVersion: string): void {
    const current = this.facts();
    const version = versionOf(resourceVersion);
    this.#window.trim();
    if (version > current.version) this.#advance(current.at(version), 0);
    // The bookmark can be older than the cache, which a probe has updated. Watchers must not receive a lower version.
    const reached = this.facts();
    this.#fanOut.bookmark(reached.version, reached.resourceVersion);
  }

  #replace(snapshot: ObjectSnapshot<Facts> | undefined, content: CacheContent): void {
    this.#epoch++;
    this.#content = content;
    this.#loading = undefined;
    this.#history.clear();
    this.#window = new WatchWindow(snapshot?.version ?? 0n, this.#options.window, this.#options.now);
    this.#current = snapshot;
    this.#fanOut.end();
    if (snapshot) this.#waiters.reached(snapshot.version);
    for (const changed of this.#listeners) changed(undefined);
  }

  #advance(next: ObjectSnapshot<Facts>, retainedBytes: number): void {
    if (this.#current) this.#history.push(this.#current, retainedBytes);
    this.#current = next;
    this.#waiters.reached(next.version);
  }
}
