// The read side of a resource's cache, as the REST handlers use it: snapshots and watches.

/** An object in the cache: its bytes and the facts that reads need. Immutable. */
export interface CachedObject<Facts> {
  /** `name`, or `namespace/name`: the sort order of lists. */
  readonly key: string;
  readonly name: string;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly facts: Facts;
  /** The whole object as JSON, with `kind` and `apiVersion` of our group in front. */
  readonly bytes: Buffer;
  /** The value of its member `metadata` as JSON: a slice of `bytes`. */
  readonly metadata: Buffer;
}

/** The read side of a cache; a reflector writes the other side. */
export interface ResourceCache<Facts> {
  /** False before the first list. */
  readonly synced: boolean;
  /** Number of lists so far. State of one epoch must not be continued in the next. */
  readonly epoch: number;
  /** Returns the current snapshot. Throws ServiceUnavailable (Retry-After) before the first list. */
  snapshot(): Snapshot<Facts>;
  /**
   * Returns the state at exactly this resourceVersion, also if no object has this version. Throws Expired when the
   * history no longer has it, Timeout (ResourceVersionTooLarge) when the cache has not reached it.
   */
  snapshotAt(resourceVersion: string): Snapshot<Facts>;
  /**
   * Resolves when the cache has reached `resourceVersion`; queries the cluster if no event arrives. Throws Timeout
   * (cause ResourceVersionTooLarge, 3 s) like kube-apiserver.
   */
  waitUntil(resourceVersion: string, signal: AbortSignal): Promise<void>;
  /**
   * Delivers every change after `from` exactly once: first from the window, then live. Throws Expired when `from` is
   * older than the window. Returns the function that ends the watch.
   */
  watch(from: string, watcher: Watcher<Facts>): () => void;
}

/** All objects at one resourceVersion, sorted by key. Immutable. */
export interface Snapshot<Facts> {
  readonly resourceVersion: string;
  readonly size: number;
  get(key: string): CachedObject<Facts> | undefined;
  /** Objects in key order; those after `after` if given. */
  objects(after?: string): Iterable<CachedObject<Facts>>;
  /** The items of the list as comma-separated JSON, in chunks. A chunk is cached until an object in it changes. */
  pieces(): readonly SnapshotPiece[];
}

export interface SnapshotPiece {
  /** Items joined by commas, without a leading or trailing comma. */
  json(): Buffer;
  /** The same as raw deflate, sync-flushed; compressed once, off the event loop. */
  deflated(): Promise<Buffer>;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** A change, shared by all watchers, with its encodings. */
export interface WatchEvent<Facts> {
  readonly type: WatchEventType;
  readonly resourceVersion: bigint;
  /** The object after the change. For DELETED: its last state, with the resourceVersion of the deletion. */
  readonly object: CachedObject<Facts>;
  /** The object before the change, for watchers whose selector starts or stops matching. */
  readonly previous: CachedObject<Facts> | undefined;
  /**
   * The line `{"type":…,"object":…}\n` for a watcher that sees `type`. A selector turns MODIFIED into ADDED when the
   * object starts to match, and into DELETED (last matching state, resourceVersion of this event) when it stops.
   * Encoded once.
   */
  frame(type: WatchEventType): Buffer;
  /** The object for a watcher that sees `type`. */
  objectFor(type: WatchEventType): CachedObject<Facts>;
}

/** A watcher of a cache. Its methods return at once; a slow client is the watcher's own concern. */
export interface Watcher<Facts> {
  event(event: WatchEvent<Facts>): void;
  /** The cache has reached this resourceVersion without another change. */
  bookmark(resourceVersion: string): void;
  /** The cache was relisted: the stream ends, and the client must relist. */
  end(): void;
}
