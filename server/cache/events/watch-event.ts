import type { CachedObject } from '../objects/cached-object.ts';

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
