// Index for the sorted and filtered lists of one kind. Changes of the cache update the index, and the index stores no
// JSON.
import { LRUCache } from 'lru-cache';
import { Seats } from '../../admission/seats.ts';
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { SnapshotDiffer } from '../../cache/snapshot-differ.ts';
import { mergeSort } from '../../concurrency/merge-sort.ts';
import type { Task, TimeSlicer, TimeSlices } from '../../concurrency/time-slicer.ts';
import { comparisonBy, type KindProfile } from '../kind-profile.ts';
import type { ObjectFacts } from '../object-facts.ts';
import type { ListFilter } from './list-filter.ts';
import { ObjectList } from './object-list.ts';
import { objectsIn } from './objects-in.ts';
import { ChangeLog, filtered, SortOrder } from './sort-order.ts';

/** Maximum number of cached selections; the least recently used one is evicted. */
const MAX_SELECTIONS = 256;
/** Maximum number of objects in all cached selections, 8 bytes each. */
const MAX_SELECTED = 1_000_000;
/** Maximum length of the key of a cached selection. Longer filters are specific to one client. */
const MAX_KEY = 4096;
/** Maximum number of changed objects of two successive snapshots, from which selections are updated. */
const MAX_CHANGED = 16_384;
/** Maximum memory of the old objects of changes, in bytes. */
const MAX_LOG_BYTES = 1 << 20;
/** Memory of an object in a selection, in bytes. */
const OBJECT_BYTES = 8;
/** Memory of a filter for each character of its key, in bytes. */
const FILTER_BYTES = 64;
/** The caller of the tasks that have the turn. */
const INDEX = 'list index';

export interface Sorting<Facts> {
  readonly sortBy: string;
  readonly filter: ListFilter<Facts>;
  /** The namespaces of the list, without duplicates; undefined for all objects. */
  readonly namespaces: readonly string[] | undefined;
}

/** The objects of a snapshot in ascending order. */
interface Sorted<Facts> {
  readonly snapshot: ObjectSnapshot<Facts>;
  readonly objects: ObjectList<ObjectIdentity<Facts>>;
}

export class ListIndex<Facts extends ObjectFacts> {
  readonly #profile: Pick<KindProfile<Facts>, 'sortKeys'>;
  readonly #slicer: TimeSlicer;
  readonly #differ = new SnapshotDiffer<Facts>();
  readonly #log = new ChangeLog<Facts>(MAX_LOG_BYTES);
  /** All objects by sort key, from which the selections are filtered. */
  readonly #orders = new Map<string, SortOrder<Facts>>();
  readonly #selections = new LRUCache<string, SortOrder<Facts>>({ max: MAX_SELECTIONS });
  /** One task at a time, because the selections change while it yields. */
  readonly #turn = new Seats({ capacity: 1, sharing: 'queue', refusal: () => new Error('no turn') });

  constructor(profile: Pick<KindProfile<Facts>, 'sortKeys'>, slicer: TimeSlicer) {
    this.#profile = profile;
    this.#slicer = slicer;
  }

  /** Memory of the sort orders and selections, their filters, and the changes that they have not applied, in bytes. */
  get bytes(): number {
    let sum = this.#log.bytes;
    for (const selections of [this.#orders, this.#selections]) {
      for (const [key, { objects }] of selections) {
        sum += objects.length * OBJECT_BYTES + key.length * FILTER_BYTES;
      }
    }
    return sum;
  }

  /** Releases the memory. The next lists sort and filter again. */
  clear(): void {
    this.#orders.clear();
    this.#selections.clear();
    this.#log.clear();
  }

  /**
   * Returns the objects of the current snapshot that pass the filter. The time for a new snapshot is proportional to
   * the number of changed objects; for a first list of namespaces, to the number of their objects. Rejects when the task is aborted.
   */
  sorted(
    current: () => ObjectSnapshot<Facts>,
    sorting: Sorting<Facts>,
    task: Required<Task>,
  ): Promise<Sorted<Facts>> | Sorted<Facts> {
    if (this.#turn.held === 0) {
      const ready = this.#ready(current(), sorting);
      if (ready) return ready;
    } else if (sorting.namespaces) {
      // A list of few objects does not wait for a list of all. Only the running task may follow a later snapshot.
      const snapshot = current();
      const known = this.#selections.get(selectionKey(sorting));
      if (known?.position === this.#log.end && this.#differ.isAt(snapshot))
        return { snapshot, objects: known.objects };
      return this.#sortedIn(snapshot, sorting, sorting.namespaces, this.#slicer.of(task));
    }
    return this.#sortedInTurn(current, sorting, task);
  }

  async #sortedInTurn(
    current: () => ObjectSnapshot<Facts>,
    sorting: Sorting<Facts>,
    task: Required<Task>,
  ): Promise<Sorted<Facts>> {
    using _turn = await this.#turn.take(task.caller ?? '', task);
    const { signal } = task;
    // Not the slices of the caller: while his other tasks used them up, all callers would wait for this one.
    return await this.#select(current, sorting, this.#slicer.of({ caller: INDEX, signal }));
  }

  /** Returns the selection if it needs no work. */
  #ready(snapshot: ObjectSnapshot<Facts>, sorting: Sorting<Facts>): Sorted<Facts> | undefined {
    this.#follow(snapshot);
    const key = selectionKey(sorting);
    const selections = this.#selectionsOf(sorting);
    const selection = selections.get(key);
    if (selection?.position !== this.#log.end) return undefined;
    return { snapshot, objects: selection.objects };
  }

  async #select(
    current: () => ObjectSnapshot<Facts>,
    sorting: Sorting<Facts>,
    slices: TimeSlices,
  ): Promise<Sorted<Facts>> {
    const key = selectionKey(sorting);
    const selections = this.#selectionsOf(sorting);
    // The cache changes while this task yields.
    for (;;) {
      // The end of a first list, and the first query of a kind, take milliseconds in the same turn as a sort of all objects.
      if (!sorting.namespaces && slices.spent) await slices.next();
      const ready = this.#ready(current(), sorting);
      if (ready) {
        if (key.length > MAX_KEY) selections.delete(key);
        this.#trim();
        return ready;
      }
      const known = selections.get(key);
      if (known) await known.update(this.#log, slices);
      else selections.set(key, await this.#selection(current(), sorting, slices));
    }
  }

  #selectionsOf({ filter, namespaces }: Sorting<Facts>): Pick<
    Map<string, SortOrder<Facts>>,
    'get' | 'delete'
  > & {
    set(key: string, order: SortOrder<Facts>): unknown;
  } {
    return filter.key === '' && !namespaces ? this.#orders : this.#selections;
  }

  /**
   * Adds the changes since the last snapshot to the log, or drops the selections if there are too many. No other task runs
   * at the same time.
   */
  #follow(snapshot: ObjectSnapshot<Facts>): void {
    const limit = this.#orders.size + this.#selections.size === 0 ? 0 : MAX_CHANGED;
    const changes = this.#differ.follow(snapshot, limit);
    if (!changes) return this.clear();
    const { removed, set } = changes;
    if (removed.length === 0 && set.length === 0) return;
    this.#log.add(changes);
    for (const selections of [this.#orders, this.#selections]) {
      for (const [key, { position }] of [...selections]) if (!this.#log.has(position)) selections.delete(key);
    }
  }

  /** Returns a new selection of a snapshot, the last one that was followed. */
  async #selection(
    snapshot: ObjectSnapshot<Facts>,
    sorting: Sorting<Facts>,
    slices: TimeSlices,
  ): Promise<SortOrder<Facts>> {
    const { sortBy, filter, namespaces } = sorting;
    const compare = comparisonBy(this.#profile, sortBy);
    const { end } = this.#log;
    if (namespaces) {
      const known = new Set(namespaces);
      const test = (object: ObjectIdentity<Facts>): boolean =>
        known.has(object.namespace || object.name) && filter.test(object);
      const { objects } = await this.#sortedIn(snapshot, sorting, namespaces, slices);
      return new SortOrder(compare, test, objects, end);
    }
    if (filter.key === '') {
      const sorted = await mergeSort(this.#differ.objects(), compare, slices);
      return new SortOrder<Facts>(compare, () => true, ObjectList.of(sorted), end);
    }
    const all = { ...sorting, filter: { key: '', test: () => true } };
    const key = selectionKey(all);
    const known = this.#orders.get(key);
    await known?.update(this.#log, slices);
    const order = known ?? (await this.#selection(snapshot, all, slices));
    this.#orders.set(key, order);
    const found = await filtered(order.objects, filter.test, slices);
    return new SortOrder(compare, filter.test, ObjectList.of(found), order.position);
  }

  /** Evicts the least recently used selections beyond the limit. */
  #trim(): void {
    let selected = 0;
    for (const { objects } of this.#selections.values()) selected += objects.length;
    while (selected > MAX_SELECTED) selected -= this.#selections.pop()?.objects.length ?? selected;
  }

  async #sortedIn(
    snapshot: ObjectSnapshot<Facts>,
    { sortBy, filter }: Sorting<Facts>,
    namespaces: readonly string[],
    slices: TimeSlices,
  ): Promise<Sorted<Facts>> {
    const found: ObjectIdentity<Facts>[] = [];
    for (const objects of objectsIn(snapshot, namespaces)) {
      for (const { identity } of objects) {
        if (filter.test(identity)) found.push(identity);
        if (slices.spent) await slices.next();
      }
    }
    const compare = comparisonBy(this.#profile, sortBy);
    return { snapshot, objects: ObjectList.of(await mergeSort(found, compare, slices)) };
  }
}

/** A JSON array, whose end is unambiguous: a caller can type any text as a namespace. */
function selectionKey({ sortBy, filter, namespaces }: Sorting<never>): string {
  return JSON.stringify([sortBy, namespaces]) + filter.key;
}
