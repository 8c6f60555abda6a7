// Computes the changes between two successive snapshots of a resource.
import type { Chunk, ObjectSnapshot } from './object-snapshot.ts';
import type { ObjectIdentity } from './resource-cache.ts';

export interface SnapshotChanges<Facts> {
  /** Previous states of removed and of changed objects. */
  readonly removed: readonly ObjectIdentity<Facts>[];
  /** Current states of added and changed objects. */
  readonly set: readonly ObjectIdentity<Facts>[];
}

const NOTHING: SnapshotChanges<never> = { removed: [], set: [] };

/**
 * Finds the changes since the last snapshot. It reads only chunks that the two snapshots do not share. It references no
 * bytes and no snapshot, so that an infrequent reader does not keep old snapshots in memory.
 */
export class SnapshotDiffer<Facts> {
  readonly #known = new WeakMap<Chunk<Facts>, readonly ObjectIdentity<Facts>[]>();
  #last: WeakRef<ObjectSnapshot<Facts>> | undefined;
  /** Objects of the last snapshot, in one array per chunk. */
  #parts: ReadonlySet<readonly ObjectIdentity<Facts>[]> = new Set();

  /** Returns the objects of the last snapshot. */
  objects(): ObjectIdentity<Facts>[] {
    return [...this.#parts].flat();
  }

  follow(snapshot: ObjectSnapshot<Facts>): SnapshotChanges<Facts> {
    if (this.#last?.deref() === snapshot) return NOTHING;
    this.#last = new WeakRef(snapshot);
    const before = this.#parts;
    const after = new Set(snapshot.chunks.map((chunk) => this.#part(chunk)));
    this.#parts = after;
    return changesBetween([...before.difference(after)].flat(), [...after.difference(before)].flat());
  }

  #part(chunk: Chunk<Facts>): readonly ObjectIdentity<Facts>[] {
    let part = this.#known.get(chunk);
    if (!part) {
      part = chunk.objects.map(({ identity }) => identity);
      this.#known.set(chunk, part);
    }
    return part;
  }
}

/** Compares objects sorted by key. Most of them are unchanged. */
function changesBetween<Facts>(
  before: readonly ObjectIdentity<Facts>[],
  after: readonly ObjectIdentity<Facts>[],
): SnapshotChanges<Facts> {
  const removed: ObjectIdentity<Facts>[] = [];
  const set: ObjectIdentity<Facts>[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [old, current] = [before[i], after[j]];
    const isOld = old !== undefined && (current === undefined || old.key <= current.key);
    const isCurrent = current !== undefined && (old === undefined || current.key <= old.key);
    if (old !== current) {
      if (isOld) removed.push(old);
      if (isCurrent) set.push(current);
    }
    if (isOld) i++;
    if (isCurrent) j++;
  }
  return { removed, set };
}
