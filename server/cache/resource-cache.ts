// Read interface of an informer cache, for the REST handlers of get, list and watch.

/** Identity of a cached object, without its JSON. Indexes reference it, so that they keep no bytes in memory. */
export interface ObjectIdentity<Facts> {
  /** `name`, or `namespace/name` if namespaced. Lists are sorted by this key. */
  readonly key: string;
  readonly name: string;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** CRC-32 of the JSON. After a restore of etcd, the same resourceVersion can belong to different content. */
  readonly checksum: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly facts: Facts;
  /** Estimated memory of the identity, the labels and the facts, and of their entries in indexes, in bytes. */
  readonly size: number;
}

const OPEN = Buffer.from('{');

interface HeadSource {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  /** True if kube-apiserver omits `kind` and `apiVersion` in the items of a list. */
  readonly bareItems?: boolean;
}

/**
 * `kind` and `apiVersion` of the objects of one resource. kube-apiserver omits both in the list items of its built-in
 * kinds. Such objects are stored without them, so that a list consists of the stored bytes.
 */
export class ObjectHead {
  /** First part of the stored objects, without the closing brace. */
  readonly stored: Buffer;
  /** Replaces the opening brace of a stored object; undefined if the stored objects are complete. */
  readonly #missing: Buffer | undefined;

  constructor({ kind, group, version, bareItems = false }: HeadSource) {
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`;
    this.stored = bareItems ? OPEN : Buffer.from(head);
    this.#missing = bareItems ? Buffer.from(`${head},`) : undefined;
  }

  /** True if the stored objects contain `kind` and `apiVersion`. */
  get isStored(): boolean {
    return this.#missing === undefined;
  }

  /** Returns the complete object, in parts that are not concatenated. */
  complete(stored: Buffer): readonly Buffer[] {
    return this.#missing ? [this.#missing, stored.subarray(OPEN.length)] : [stored];
  }
}

/** An immutable object of the cache: its JSON, and facts for selectors, sorting and columns. */
export interface CachedObject<Facts> extends ObjectIdentity<Facts> {
  readonly identity: ObjectIdentity<Facts>;
  /**
   * The object as JSON, as it is an item of a list. It starts with `kind` and `apiVersion`; the objects of built-in kinds have
   * neither (ObjectHead).
   */
  readonly bytes: Buffer;
  /** Length of `bytes`. */
  readonly length: number;
  /** The value of `metadata` as JSON, a slice of `bytes`. */
  readonly metadata: Buffer;
}

/** The read interface of a cache that a reflector fills. */
export interface ResourceCache<Facts> {
  /** False before the first list. */
  readonly synced: boolean;
  /**
   * Number of lists so far. Resource versions of different epochs must not be compared: a relist can follow a restore.
   */
  readonly epoch: number;
  /** Returns the current snapshot. Throws ServiceUnavailable (Retry-After) before the first list. */
  snapshot(): Snapshot<Facts>;
  /**
   * Returns the snapshot at exactly this resourceVersion, even if no object has this version. Throws Expired if the
   * history no longer has it, and Timeout (ResourceVersionTooLarge) if the cache has not reached it.
   */
  snapshotAt(resourceVersion: string): Snapshot<Facts>;
  /**
   * Resolves when the cache has reached `resourceVersion`. If no event arrives, the cache queries the cluster. After 3
   * s throws Timeout with the cause ResourceVersionTooLarge, as kube-apiserver does.
   */
  waitUntil(resourceVersion: string, signal: AbortSignal): Promise<void>;
  /**
   * Delivers every change after `from` exactly once: first the past changes of the window, then new changes. Throws
   * Expired if `from` is older than the window. Returns the function that ends the watch.
   */
  watch(from: string, watcher: Watcher<Facts>): () => void;
}

/** All objects at one resourceVersion, sorted by key. Immutable. */
export interface Snapshot<Facts> {
  readonly resourceVersion: string;
  readonly size: number;
  get(key: string): CachedObject<Facts> | undefined;
  /** Returns the objects in key order. `after`: only objects with a greater key. */
  objects(after?: string): Iterable<CachedObject<Facts>>;
  /** Returns the number of objects of a namespace, or of all if it is empty, with keys greater than `after`. */
  count(namespace: string, after?: string): number;
  /** Returns the items of the list in chunks. The encoding of a chunk is cached until an object in it changes. */
  pieces(): readonly SnapshotPiece[];
}

export interface SnapshotPiece {
  /** Length of the JSON in bytes. */
  length(): number;
  /** Returns the CRC-32 of the JSON. */
  checksum(): number;
  /** Returns the items as JSON, separated by commas. */
  json(): Buffer;
  /** Returns json() as sync-flushed raw deflate. It is compressed once, in a thread of libuv. */
  deflated(): Promise<Buffer>;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** A change, shared by all watchers. */
export interface WatchEvent<Facts> {
  readonly type: WatchEventType;
  readonly resourceVersion: bigint;
  /** The object after the change. If it was deleted, its last state with the resourceVersion of the deletion. */
  readonly object: CachedObject<Facts>;
  /** The object before the change, for watchers whose selector matches only before or only after the change. */
  readonly previous: CachedObject<Facts> | undefined;
  /**
   * Returns the object for a watcher that receives this change as `type`. A watcher with a selector receives MODIFIED as
   * ADDED when the object starts to match, and as DELETED when it stops to match. Such a DELETED event has the last
   * matching state, with the resourceVersion of this change.
   */
  objectFor(type: WatchEventType): CachedObject<Facts>;
}

/** A watcher of a cache. Its methods must not block, so a watcher queues events for a slow client. */
export interface Watcher<Facts> {
  event(event: WatchEvent<Facts>): void;
  /** The cache has reached this resourceVersion without another change. */
  bookmark(resourceVersion: string): void;
  /** The cache was relisted: the stream ends, and the client must relist. */
  end(): void;
}
