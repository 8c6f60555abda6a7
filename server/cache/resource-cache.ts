import type { CachedObject } from './cached-object.ts';

/** What the REST handlers read; the reflector writes to the other side of it. */
export interface ResourceCache<Facts> {
  /** False until the first list is complete. */
  readonly synced: boolean;
  /** Counts the lists: what began in one epoch must not go on in another. */
  readonly epoch: number;
  /** The newest snapshot. Throws ServiceUnavailable (Retry-After) while not synced. */
  snapshot(): Snapshot<Facts>;
  /**
   * The state at exactly this resourceVersion, while it is kept: also at one that no object of ours has.
   * Throws Expired when it is gone, Timeout (ResourceVersionTooLarge) when the cache has not reached it.
   */
  snapshotAt(resourceVersion: string): Snapshot<Facts>;
  /**
   * Resolves once the cache has reached `resourceVersion`, asking the cluster when nothing moves.
   * Throws Timeout (cause ResourceVersionTooLarge, 3 s) as kube-apiserver does.
   */
  waitUntil(resourceVersion: string, signal: AbortSignal): Promise<void>;
  /**
   * Every change after `from`, from the window first, then live, without a gap or a repetition.
   * Throws Expired when `from` is before the window. Returns the function that ends it.
   */
  watch(from: string, watcher: Watcher<Facts>): () => void;
}

// Snapshots share what did not change, and the latest are kept. This folder owns how; when there is a new one, and who
// reads it, is informer-cache's business.
/** All objects at one resourceVersion, sorted by key. Immutable; neighbours share what did not change. */
export interface Snapshot<Facts> {
  readonly resourceVersion: string;
  readonly size: number;
  get(key: string): CachedObject<Facts> | undefined;
  /** In key order, beginning behind `after` when it is given. */
  objects(after?: string): Iterable<CachedObject<Facts>>;
  /**
   * The whole list's items as JSON, comma-separated, in pieces of some hundred KB that are kept until an object in
   * them changes.
   */
  pieces(): readonly SnapshotPiece[];
}

export interface SnapshotPiece {
  /** Items joined by commas, without one at either end. */
  json(): Buffer;
  /** The same followed by nothing, as sync-flushed raw deflate, compressed once off the event loop. */
  deflated(): Promise<Buffer>;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One change, shared by all watchers; what is encoded for one of them is kept for the others. */
export interface WatchEvent<Facts> {
  readonly type: WatchEventType;
  readonly resourceVersion: bigint;
  /** The object after the change; of a DELETED one its last state with the resourceVersion of the delete. */
  readonly object: CachedObject<Facts>;
  /** The object before the change, for watchers whose selector it has left or entered. */
  readonly previous: CachedObject<Facts> | undefined;
  /**
   * The line `{"type":…,"object":…}\n` for a watcher that is to see `type`: MODIFIED becomes ADDED when the object
   * enters a selector, and DELETED (last selected state, resourceVersion of this event) when it leaves. Encoded once.
   */
  frame(type: WatchEventType): Buffer;
  /** The object that a watcher who is to see `type` gets. */
  objectFor(type: WatchEventType): CachedObject<Facts>;
}

/** What watchers are told. Methods return at once; a slow reader is the watcher's own problem. */
export interface Watcher<Facts> {
  event(event: WatchEvent<Facts>): void;
  /** The cluster has got this far without a change that concerns us. */
  bookmark(resourceVersion: string): void;
  /** The cache was filled anew: the stream ends and the client lists again. */
  end(): void;
}
