// Computes the changes between two successive snapshots of a resource.
import type { ObjectSnapshot } from './object-snapshot.ts';
import type { ObjectIdentity } from './resource-cache.ts';

export interface SnapshotChanges<Facts> {
  /** Previous states of removed and of changed objects. */
  readonly removed: readonly ObjectIdentity<Facts>[];
  /** Current states of added and changed objects. */
  readonly set: readonly ObjectIdentity<Facts>[];
}

const NOTHING: SnapshotChanges<never> = { removed: [], set: [] };

/** The objects of one chunk. A chunk that two snapshots share has the same array in both. */
type Part<Facts> = readonly ObjectIdentity<Facts>[];

/**
 * Finds the changes since the last snapshot. It reads only chunks that the two snapshots do not share. It references no
 * bytes and no snapshot, so that an infrequent reader does not keep old snapshots in memory.
 */
export class SnapshotDiffer<Facts> {
  #last: WeakRef<ObjectSnapshot<Facts>> | undefined;
  /** Objects of the last snapshot. */
  #parts: readonly Part<Facts>[] = [];

  /** Returns the objects of the last snapshot. */
  objects(): ObjectIdentity<Facts>[] {
    const objects: ObjectIdentity<Facts>[] = [];
    for (const part of this.#parts) objects.push(...part);
    return objects;
  }

  /** Returns true if this is the last snapshot. */
  isAt(snapshot: ObjectSnapshot<Facts>): boolean {
    return this.#last?.deref() === snapshot;
  }

  /**
   * Returns the changes of at most `limit` objects; undefined if there are more. Without the limit, the first list and a
   * relist of many objects would block the event loop.
   */
  follow(snapshot: ObjectSnapshot<Facts>, limit: number): SnapshotChanges<Facts> | undefined {
    if (this.isAt(snapshot)) return NOTHING;
    const before = this.#parts;
    this.#parts = this.#partsOf(snapshot);
    this.#last = new WeakRef(snapshot);
    return changesBetween(before, this.#parts, limit);
  }

  /** Does not read chunks that the last snapshot has at the same place from the start or the end: reading thousands takes a millisecond. */
  #partsOf({ chunks }: ObjectSnapshot<Facts>): readonly Part<Facts>[] {
    const known = this.#last?.deref()?.chunks ?? [];
    const shift = known.length - chunks.length;
    return chunks.map((chunk, i) => {
      const at = known[i] === chunk ? i : known[i + shift] === chunk ? i + shift : undefined;
      return (at === undefined ? undefined : this.#parts[at]) ?? chunk.identities;
    });
  }
}

/** Compares objects sorted by key. Most of them are unchanged, and most parts are the same. */
function changesBetween<Facts>(
  before: readonly Part<Facts>[],
  after: readonly Part<Facts>[],
  limit: number,
): SnapshotChanges<Facts> | undefined {
  const removed: ObjectIdentity<Facts>[] = [];
  const set: ObjectIdentity<Facts>[] = [];
  // The object `m` of the part `i` before, and the object `n` of the part `j` after.
  let i = 0;
  let j = 0;
  let m = 0;
  let n = 0;
  while (i < before.length || j < after.length) {
    const left = before[i];
    const right = after[j];
    if (left === right && m === n) {
      i++;
      j++;
      m = 0;
      n = 0;
      continue;
    }
    const old = left?.[m];
    const current = right?.[n];
    const isSame = old === current;
    const isOld = isSame || !current || (old !== undefined && old.key <= current.key);
    const isCurrent = isSame || !old || (current !== undefined && current.key <= old.key);
    if (!isSame) {
      if (isOld && old) removed.push(old);
      if (isCurrent && current) set.push(current);
      if (removed.length + set.length > limit) return undefined;
    }
    if (isOld && ++m === left?.length) {
      i++;
      m = 0;
    }
    if (isCurrent && ++n === right?.length) {
      j++;
      n = 0;
    }
  }
  return { removed, set };
}
