// A sorted selection of the objects of one kind, and the log of changes that all selections of the kind share. A change of the objects
// costs nothing until a selection is read.
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import type { SnapshotChanges } from '../../cache/snapshot-differ.ts';
import { merged, mergeSort } from '../../concurrency/merge-sort.ts';
import type { TimeSlices } from '../../concurrency/time-slicer.ts';
import type { Comparison } from '../kind-profile.ts';
import type { ObjectFacts } from '../object-facts.ts';
import { followFacets } from './facets.ts';
import { ObjectList } from './object-list.ts';

/** Checks the time after each object, because the filter is that of a client and the object that of a tenant. */
export async function filtered<Facts>(
  objects: Iterable<ObjectIdentity<Facts>>,
  test: (object: ObjectIdentity<Facts>) => boolean,
  slices: TimeSlices,
): Promise<ObjectIdentity<Facts>[]> {
  const found: ObjectIdentity<Facts>[] = [];
  for (const object of objects) {
    if (test(object)) found.push(object);
    if (slices.spent) await slices.next();
  }
  return found;
}

/** Number of changed objects above which merging all objects is faster than inserting each changed object. */
const MOST_INSERTED = 64;

/** A sorted selection of objects at a position in the changes of its kind. */
export class SortOrder<Facts extends ObjectFacts> {
  readonly #compare: Comparison<Facts>;
  readonly #test: (object: ObjectIdentity<Facts>) => boolean;
  #objects: ObjectList<ObjectIdentity<Facts>>;
  #position: number;

  /** `sorted`: the objects at this position, already sorted by `compare` and filtered by `test`. */
  constructor(
    compare: Comparison<Facts>,
    test: (object: ObjectIdentity<Facts>) => boolean,
    sorted: ObjectList<ObjectIdentity<Facts>>,
    position: number,
  ) {
    this.#compare = compare;
    this.#test = test;
    this.#objects = sorted;
    this.#position = position;
  }

  /** The position in the log up to which the changes are applied. */
  get position(): number {
    return this.#position;
  }

  /** The objects in ascending order. */
  get objects(): ObjectList<ObjectIdentity<Facts>> {
    return this.#objects;
  }

  /** Applies the changes up to the end of the log. */
  async update(log: ChangeLog<Facts>, slices: TimeSlices): Promise<void> {
    const { end } = log;
    const removed = new Set<ObjectIdentity<Facts>>();
    const added = new Set<ObjectIdentity<Facts>>();
    for (const changes of log.since(this.#position)) {
      for (const object of await filtered(changes.removed, this.#test, slices))
        if (!added.delete(object)) removed.add(object);
      for (const object of await filtered(changes.set, this.#test, slices)) added.add(object);
    }
    if (removed.size + added.size > 0) {
      const before = this.#objects;
      this.#objects = await this.#updated(removed, added, slices);
      followFacets(before, this.#objects, removed, added);
    }
    this.#position = end;
  }

  async #updated(
    removed: ReadonlySet<ObjectIdentity<Facts>>,
    added: ReadonlySet<ObjectIdentity<Facts>>,
    slices: TimeSlices,
  ): Promise<ObjectList<ObjectIdentity<Facts>>> {
    if (removed.size + added.size > MOST_INSERTED) {
      const kept = await filtered(this.#objects, (object) => !removed.has(object), slices);
      const sorted = await mergeSort([...added], this.#compare, slices);
      return ObjectList.of(await merged(kept, sorted, this.#compare, slices));
    }
    let objects = this.#objects;
    for (const object of removed) objects = objects.without(object, this.#compare);
    for (const object of added) objects = objects.with(object, this.#compare);
    return objects;
  }
}

/** Memory of a reference, in bytes. */
const REFERENCE_BYTES = 8;

/** The recent changes of the objects of one kind. */
export class ChangeLog<Facts> {
  readonly #maxBytes: number;
  /** The changes of each snapshot, the oldest first. */
  #changes: SnapshotChanges<Facts>[] = [];
  #bytes = 0;
  #end = 0;

  /** `maxBytes`: maximum memory of old objects, which only the log references. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The position after all changes. */
  get end(): number {
    return this.#end;
  }

  /** Returns true if the log has all changes since a position. */
  has(position: number): boolean {
    return position >= this.#end - this.#changes.length;
  }

  since(position: number): readonly SnapshotChanges<Facts>[] {
    return position === this.#end ? [] : this.#changes.slice(position - this.#end);
  }

  /** Adds changes, and drops the oldest ones beyond the maximum memory. */
  add(changes: SnapshotChanges<Facts>): void {
    this.#end++;
    this.#changes.push(changes);
    this.#bytes += bytesOf(changes);
    let dropped = 0;
    for (const oldest of this.#changes) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#bytes -= bytesOf(oldest);
      dropped++;
    }
    if (dropped > 0) this.#changes = this.#changes.slice(dropped);
  }

  clear(): void {
    this.#changes = [];
    this.#bytes = 0;
  }
}

function bytesOf({ removed, set }: SnapshotChanges<unknown>): number {
  return removed.reduce((sum, { size }) => sum + size, (removed.length + set.length) * REFERENCE_BYTES);
}
