// Computes the changes between two successive snapshots of a resource.
import type { ObjectIdentity } from './object-reader.ts';
import type { Chunk, ObjectSnapshot } from './object-snapshot.ts';
import type { CachedObject } from './resource-cache.ts';

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
    const chunks = new Set(snapshot.chunks.map((chunk) => this.#known.get(chunk)));
    const old = new Map<string, ObjectIdentity<Facts>>();
    for (const part of before) {
      if (!chunks.has(part)) for (const object of part) old.set(object.key, object);
    }
    const set: ObjectIdentity<Facts>[] = [];
    const removed: ObjectIdentity<Facts>[] = [];
    const parts = new Set<readonly ObjectIdentity<Facts>[]>();
    for (const chunk of snapshot.chunks) {
      const known = this.#known.get(chunk);
      const part = known && before.has(known) ? known : this.#read(chunk, old, removed, set);
      parts.add(part);
    }
    this.#parts = parts;
    return { removed: [...removed, ...old.values()], set };
  }

  /** Compares the objects of a chunk with `old`, and removes them from `old`. */
  #read(
    chunk: Chunk<Facts>,
    old: Map<string, ObjectIdentity<Facts>>,
    removed: ObjectIdentity<Facts>[],
    set: ObjectIdentity<Facts>[],
  ): readonly ObjectIdentity<Facts>[] {
    const part = chunk.objects.map((object) => {
      const known = old.get(object.key);
      old.delete(object.key);
      if (known && isSame(known, object)) return known;
      const identity = withoutBytes(object);
      if (known) removed.push(known);
      set.push(identity);
      return identity;
    });
    this.#known.set(chunk, part);
    return part;
  }
}

/**
 * Returns true if both are the same object in the same state. It compares the identity of `labels`, which is created
 * when an object is read and stays when its bytes are copied. A resourceVersion is not sufficient, because after a
 * restore of etcd it can belong to a different state.
 */
function isSame<Facts>(known: ObjectIdentity<Facts>, object: CachedObject<Facts>): boolean {
  return known.labels === object.labels;
}

function withoutBytes<Facts>(object: CachedObject<Facts>): ObjectIdentity<Facts> {
  const { key, name, namespace, uid, resourceVersion, labels, facts } = object;
  return { key, name, namespace, uid, resourceVersion, labels, facts };
}
