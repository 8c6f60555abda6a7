// The last writes that each caller sent through the gateway, so that later reads of this caller contain them (read your
// writes).
import { type UserInfo, userCaller } from '../authentication/user.ts';
import type { RevisionProof } from '../cache/revision-proof.ts';
import { aborted } from '../concurrency/aborted.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { SharedMap } from '../memory/shared-map.ts';
import { exactName, type Kind } from './kind.ts';

/** The new state of an object, as far as the response to a write shows it. */
export type Write =
  /** The written object has this resourceVersion. */
  | { readonly version: bigint }
  /** The object with this key and UID was deleted. */
  | { readonly key: string; readonly uid: string }
  | 'unknown';

/** The state that a cache must have reached. */
interface Mark {
  version: bigint;
  /** UIDs of deleted objects by key. */
  readonly deleted: Map<string, string>;
  /** True if only a proof shows that the cache contains the writes. */
  unknown: boolean;
  at: number;
}

/** A cache that must contain the writes. */
export interface WrittenCache {
  readonly cache: {
    snapshot(): { readonly version: bigint; get(key: string): { readonly uid: string } | undefined };
    onChange(changed: () => void): () => void;
  };
  readonly proof: Pick<RevisionProof, 'prove'>;
}

type KindName = Pick<Kind, 'group' | 'plural'>;

/** Number of callers and kinds with recent writes. */
const MARKS = 10_000;
const MAX_DELETED = 100;
/** Time in ms after which a cache contains every write, or is stale and not used. */
const MAX_AGE_MS = 180_000;
/** Time in ms in which the event of a write usually arrives. */
const EVENT_MS = 100;

export class RecentWrites {
  /** Returns true for a kind whose objects are cached. */
  readonly concerns: (kind: KindName) => boolean;
  readonly #marks = new SharedMap<Mark>(MARKS);

  constructor(concerns: (kind: KindName) => boolean) {
    this.concerns = concerns;
  }

  /** Called before the caller receives the response. */
  add({ name }: Pick<UserInfo, 'name'>, kind: KindName, write: Write): void {
    const key = keyOf(name, kind);
    const mark = this.#marks.get(key) ?? { version: 0n, deleted: new Map(), unknown: false, at: 0 };
    mark.at = performance.now();
    if (write === 'unknown' || mark.deleted.size >= MAX_DELETED) mark.unknown = true;
    else if ('uid' in write) mark.deleted.set(write.key, write.uid);
    else if (write.version > mark.version) mark.version = write.version;
    this.#marks.set(key, mark, userCaller({ name }));
  }

  /** Returns true if the caller has written objects of the kind that the cache may not contain yet. */
  pending(user: Pick<UserInfo, 'name'>, kind: KindName, { cache }: Pick<WrittenCache, 'cache'>): boolean {
    if (this.#marks.size === 0) return false;
    const key = keyOf(user.name, kind);
    const mark = this.#marks.get(key);
    if (!mark) return false;
    const isOld = performance.now() - mark.at > MAX_AGE_MS;
    if (!isOld && (mark.unknown || !contains(cache.snapshot(), mark))) return true;
    this.#marks.delete(key);
    return false;
  }

  /** Resolves with true when the cache contains the writes of the caller, with false after `ms`. */
  async contained(
    user: Pick<UserInfo, 'name'>,
    kind: KindName,
    written: WrittenCache,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const since = performance.now();
    const isUnknown = (): boolean => this.#marks.get(keyOf(user.name, kind))?.unknown ?? false;
    while (this.pending(user, kind, written)) {
      const waitMs = Math.min(EVENT_MS, ms) - (performance.now() - since);
      if (!isUnknown() && waitMs > 0) {
        await nextChange(written.cache, waitMs, signal);
        signal.throwIfAborted();
        continue;
      }
      const began = performance.now();
      if (!(await written.proof.prove(ms, signal))) return false;
      this.#proven(user, kind, began);
    }
    return true;
  }

  /** The cache was proven to be current at `began`. */
  #proven(user: Pick<UserInfo, 'name'>, kind: KindName, began: number): void {
    const key = keyOf(user.name, kind);
    if ((this.#marks.get(key)?.at ?? began) < began) this.#marks.delete(key);
  }
}

function contains(
  snapshot: ReturnType<WrittenCache['cache']['snapshot']>,
  { version, deleted }: Mark,
): boolean {
  for (const [key, uid] of deleted) if (snapshot.get(key)?.uid !== uid) deleted.delete(key);
  return deleted.size === 0 && snapshot.version >= version;
}

/** Resolves at the next change of the cache, or after `ms`. */
async function nextChange(cache: WrittenCache['cache'], ms: number, signal: AbortSignal): Promise<void> {
  using bounded = boundedSignal(signal, ms);
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = cache.onChange(resolve);
  try {
    await Promise.race([promise, aborted(bounded.signal)]);
  } finally {
    unsubscribe();
  }
}

function keyOf(name: string, kind: KindName): string {
  return `${exactName(kind)} ${name}`;
}
