// A sorted selection of the objects of one kind, and the changes that it has not applied yet.
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { merged, mergeSort } from '../../concurrency/merge-sort.ts';
import type { TimeSlices } from '../../concurrency/time-slicer.ts';
import type { Comparison } from '../kind-profile.ts';

/** Objects between checks of the time slice. */
const STEPS = 256;

/** Time-sliced. */
export async function filtered<Facts>(
  objects: readonly ObjectIdentity<Facts>[],
  test: (object: ObjectIdentity<Facts>) => boolean,
  slices: TimeSlices,
): Promise<ObjectIdentity<Facts>[]> {
  const found: ObjectIdentity<Facts>[] = [];
  for (const [i, object] of objects.entries()) {
    if (test(object)) found.push(object);
    if (i % STEPS === 0 && slices.spent) await slices.next();
  }
  return found;
}

/** Number of changed objects above which merging all objects is faster than inserting each changed object. */
const MOST_INSERTED = 64;

/** A sorted selection of objects, with the changes that it has not applied yet. */
export class SortOrder<Facts> {
  readonly #compare: Comparison<Facts>;
  readonly #test: (object: ObjectIdentity<Facts>) => boolean;
  #objects: readonly ObjectIdentity<Facts>[];
  #removed = new Set<ObjectIdentity<Facts>>();
  #added = new Set<ObjectIdentity<Facts>>();

  /** `sorted`: the initial objects, already sorted by `compare` and filtered by `test`. */
  constructor(
    compare: Comparison<Facts>,
    test: (object: ObjectIdentity<Facts>) => boolean,
    sorted: readonly ObjectIdentity<Facts>[],
  ) {
    this.#compare = compare;
    this.#test = test;
    this.#objects = sorted;
  }

  /** Number of pending changes. */
  get pending(): number {
    return this.#removed.size + this.#added.size;
  }

  /** True if no change is pending. */
  get current(): boolean {
    return this.pending === 0;
  }

  /** The objects in ascending order, without the pending changes. */
  get objects(): readonly ObjectIdentity<Facts>[] {
    return this.#objects;
  }

  /**
   * Adds pending changes. `removed`: previous states of removed and changed objects. `set`: current states of new and
   * changed objects.
   */
  change(removed: readonly ObjectIdentity<Facts>[], set: readonly ObjectIdentity<Facts>[]): void {
    for (const object of removed) {
      if (this.#test(object) && !this.#added.delete(object)) this.#removed.add(object);
    }
    for (const object of set) if (this.#test(object)) this.#added.add(object);
  }

  /** Applies the pending changes. */
  async update(slices: TimeSlices): Promise<void> {
    if (this.current) return;
    const [removed, added] = [this.#removed, this.#added];
    this.#objects = await this.#updated(removed, added, slices);
    this.#removed = new Set();
    this.#added = new Set();
  }

  async #updated(
    removed: ReadonlySet<ObjectIdentity<Facts>>,
    added: ReadonlySet<ObjectIdentity<Facts>>,
    slices: TimeSlices,
  ): Promise<readonly ObjectIdentity<Facts>[]> {
    if (removed.size + added.size > MOST_INSERTED) {
      const kept = await filtered(this.#objects, (object) => !removed.has(object), slices);
      const sorted = await mergeSort([...added], this.#compare, slices);
      return merged(kept, sorted, this.#compare, slices);
    }
    // A copy, because callers still use the previous array.
    const objects = [...this.#objects];
    for (const object of removed) {
      const at = this.#search(objects, object);
      if (objects[at] === object) objects.splice(at, 1);
    }
    for (const object of added) objects.splice(this.#search(objects, object), 0, object);
    return objects;
  }

  /** Returns the index of `object` in `objects`, or its insertion index. */
  #search(objects: readonly ObjectIdentity<Facts>[], object: ObjectIdentity<Facts>): number {
    let low = 0;
    let high = objects.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = objects[middle];
      if (other && this.#compare(other, object) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
