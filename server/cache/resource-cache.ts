import type { Watcher } from './events/watcher.ts';
import type { Snapshot } from './snapshots/snapshot.ts';

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
