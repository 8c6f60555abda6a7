// Index for the sorted and filtered lists of one kind. Changes of the cache update the index, and the index stores no
// JSON.
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { SnapshotDiffer } from '../../cache/snapshot-differ.ts';
import { merged, mergeSort } from '../../concurrency/merge-sort.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import { type Comparison, comparisonBy, type KindProfile } from '../kind-profile.ts';
import type { ObjectFacts } from '../object-facts.ts';
import type { ListFilter } from './list-filter.ts';
import { objectsIn } from './objects-in.ts';

/** Maximum number of cached selections; the least recently used one is evicted. */
const MAX_SELECTIONS = 256;
/** Maximum number of objects in all cached selections, 8 bytes each. */
const MAX_SELECTED = 1_000_000;
/** Maximum length of the key of a cached selection. Longer filters are specific to one client. */
const MAX_KEY = 4096;
/** Maximum number of pending changes of a selection. Changes keep old objects in memory. */
const MAX_PENDING = 16_384;
/** Memory of an object in a selection, and of a pending change, in bytes. */
const OBJECT_BYTES = 8;
const PENDING_BYTES = 64;
/** Maximum number of filtered objects when changes are passed to all selections: about 20 ms. It bounds their pending changes. */
const MAX_TESTS = 262_144;
/** Objects, or chunks of about 32 objects, between checks of the time slice. */
const STEPS = 256;
const CHUNKS = 8;

export interface Sorting<Facts> {
  readonly sortBy: string;
  readonly filter: ListFilter<Facts>;
  /** The namespaces of the list, without duplicates; undefined for all objects. */
  readonly namespaces: readonly string[] | undefined;
}

/** The objects of a snapshot in ascending order. */
export interface Sorted<Facts> {
  readonly snapshot: ObjectSnapshot<Facts>;
  readonly objects: readonly ObjectIdentity<Facts>[];
}

export class ListIndex<Facts extends ObjectFacts> {
  readonly #profile: Pick<KindProfile<Facts>, 'sortKeys'>;
  readonly #slicer: TimeSlicer;
  readonly #differ = new SnapshotDiffer<Facts>();
  /** All objects by sort key, from which the selections are filtered. */
  readonly #orders = new Map<string, SortOrder<Facts>>();
  readonly #selections = new BoundedMap<string, SortOrder<Facts>>(MAX_SELECTIONS);
  #last: Promise<unknown> = Promise.resolve();
  #busy = 0;

  constructor(profile: Pick<KindProfile<Facts>, 'sortKeys'>, slicer: TimeSlicer) {
    this.#profile = profile;
    this.#slicer = slicer;
  }

  /** Memory of the sort orders and selections, in bytes. */
  get bytes(): number {
    let sum = 0;
    for (const selections of [this.#orders, this.#selections]) {
      for (const { objects, pending } of selections.values()) {
        sum += objects.length * OBJECT_BYTES + pending * PENDING_BYTES;
      }
    }
    return sum;
  }

  /** Releases the memory. The next lists sort and filter again. */
  clear(): void {
    this.#orders.clear();
    this.#selections.clear();
  }

  /**
   * Returns the objects of the current snapshot that pass the filter. The time for a new snapshot is proportional to
   * the number of changed objects; for a first list of namespaces, to the number of their objects.
   */
  sorted(
    current: () => ObjectSnapshot<Facts>,
    sorting: Sorting<Facts>,
  ): Promise<Sorted<Facts>> | Sorted<Facts> {
    if (this.#busy === 0) {
      const ready = this.#ready(current(), sorting);
      if (ready) return ready;
    } else if (sorting.namespaces) {
      // A list of few objects does not wait for a list of all. Only the running task may follow a later snapshot.
      const snapshot = current();
      const known = this.#selections.get(selectionKey(sorting));
      if (known?.current && this.#differ.isAt(snapshot)) return { snapshot, objects: known.objects };
      return this.#sortedIn(snapshot, sorting, sorting.namespaces);
    }
    this.#busy++;
    // One task at a time, because the selections change while it yields.
    const result = this.#last.then(() => this.#select(current, sorting)).finally(() => this.#busy--);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Returns the selection if it needs no work. */
  #ready(snapshot: ObjectSnapshot<Facts>, sorting: Sorting<Facts>): Sorted<Facts> | undefined {
    this.#follow(snapshot);
    const key = selectionKey(sorting);
    const selections = this.#selectionsOf(sorting);
    const selection = selections.get(key);
    if (!selection?.current) return undefined;
    // Makes it the most recently used one.
    selections.set(key, selection);
    return { snapshot, objects: selection.objects };
  }

  async #select(current: () => ObjectSnapshot<Facts>, sorting: Sorting<Facts>): Promise<Sorted<Facts>> {
    const key = selectionKey(sorting);
    const selections = this.#selectionsOf(sorting);
    // The cache changes while this task yields.
    for (;;) {
      // The end of a first list, and the first query of a kind, take milliseconds in the same turn as a sort of all objects.
      if (!sorting.namespaces && this.#slicer.spent) await this.#slicer.next();
      const ready = this.#ready(current(), sorting);
      if (ready) {
        if (key.length > MAX_KEY) selections.delete(key);
        this.#trim();
        return ready;
      }
      const known = selections.get(key);
      if (known) await known.update(this.#slicer);
      else selections.set(key, await this.#selection(current(), sorting));
    }
  }

  #selectionsOf({ filter, namespaces }: Sorting<Facts>): Map<string, SortOrder<Facts>> {
    return filter.key === '' && !namespaces ? this.#orders : this.#selections;
  }

  /**
   * Passes the changes since the last snapshot to all selections, or drops the selections if this would take too long. No
   * other task runs at the same time.
   */
  #follow(snapshot: ObjectSnapshot<Facts>): void {
    const count = this.#orders.size + this.#selections.size;
    const limit = count === 0 ? 0 : Math.min(MAX_PENDING, MAX_TESTS / count);
    const changes = this.#differ.follow(snapshot, limit);
    if (!changes) return this.clear();
    const { removed, set } = changes;
    if (removed.length === 0 && set.length === 0) return;
    for (const selections of [this.#orders, this.#selections]) {
      for (const [key, selection] of selections) {
        selection.change(removed, set);
        if (selection.pending > limit) selections.delete(key);
      }
    }
  }

  /** Returns a new selection of a snapshot, the last one that was followed. */
  async #selection(snapshot: ObjectSnapshot<Facts>, sorting: Sorting<Facts>): Promise<SortOrder<Facts>> {
    const { sortBy, filter, namespaces } = sorting;
    const compare = comparisonBy(this.#profile, sortBy);
    if (namespaces) {
      const known = new Set(namespaces);
      const test = (object: ObjectIdentity<Facts>): boolean =>
        known.has(object.namespace || object.name) && filter.test(object);
      return new SortOrder(compare, test, (await this.#sortedIn(snapshot, sorting, namespaces)).objects);
    }
    if (filter.key === '') {
      const sorted = await mergeSort(this.#differ.objects(), compare, this.#slicer);
      return new SortOrder<Facts>(compare, () => true, sorted);
    }
    const all = { ...sorting, filter: { key: '', test: () => true } };
    const key = selectionKey(all);
    const known = this.#orders.get(key);
    await known?.update(this.#slicer);
    const order = known ?? (await this.#selection(snapshot, all));
    this.#orders.set(key, order);
    return new SortOrder(compare, filter.test, await filtered(order.objects, filter.test, this.#slicer));
  }

  /** Evicts the least recently used selections beyond the limit. */
  #trim(): void {
    let selected = 0;
    for (const { objects } of this.#selections.values()) selected += objects.length;
    for (const [key, { objects }] of this.#selections) {
      if (selected <= MAX_SELECTED) return;
      this.#selections.delete(key);
      selected -= objects.length;
    }
  }

  async #sortedIn(
    snapshot: ObjectSnapshot<Facts>,
    { sortBy, filter }: Sorting<Facts>,
    namespaces: readonly string[],
  ): Promise<Sorted<Facts>> {
    const found: ObjectIdentity<Facts>[] = [];
    let steps = 0;
    for (const objects of objectsIn(snapshot, namespaces)) {
      for (const { identity } of objects) if (filter.test(identity)) found.push(identity);
      if (++steps % CHUNKS === 0 && this.#slicer.spent) await this.#slicer.next();
    }
    const compare = comparisonBy(this.#profile, sortBy);
    return { snapshot, objects: await mergeSort(found, compare, this.#slicer) };
  }
}

function selectionKey({ sortBy, filter, namespaces }: Sorting<never>): string {
  return `${sortBy} ${namespaces?.join() ?? '*'} ${filter.key}`;
}

async function filtered<Facts>(
  objects: readonly ObjectIdentity<Facts>[],
  test: (object: ObjectIdentity<Facts>) => boolean,
  slicer: TimeSlicer,
): Promise<ObjectIdentity<Facts>[]> {
  const found: ObjectIdentity<Facts>[] = [];
  for (const [i, object] of objects.entries()) {
    if (test(object)) found.push(object);
    if (i % STEPS === 0 && slicer.spent) await slicer.next();
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
  async update(slicer: TimeSlicer): Promise<void> {
    if (this.current) return;
    const [removed, added] = [this.#removed, this.#added];
    this.#objects = await this.#updated(removed, added, slicer);
    this.#removed = new Set();
    this.#added = new Set();
  }

  async #updated(
    removed: ReadonlySet<ObjectIdentity<Facts>>,
    added: ReadonlySet<ObjectIdentity<Facts>>,
    slicer: TimeSlicer,
  ): Promise<readonly ObjectIdentity<Facts>[]> {
    if (removed.size + added.size > MOST_INSERTED) {
      const kept = await filtered(this.#objects, (object) => !removed.has(object), slicer);
      const sorted = await mergeSort([...added], this.#compare, slicer);
      return merged(kept, sorted, this.#compare, slicer);
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
