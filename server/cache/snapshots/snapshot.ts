// Snapshots share what did not change, and the latest are kept. This folder owns how; when there is a new one, and who
// reads it, is informer-cache's business.
import type { CachedObject } from '../objects/cached-object.ts';

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
