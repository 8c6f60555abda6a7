// Index for the node list for consoles: sorted and filtered selections of nodes. New snapshots of the cache update the
// selections. The index stores no JSON of nodes.
import type { NodeSortKey } from '../../../apis/resources/v1alpha3/node-query.ts';
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import { SnapshotDiffer } from '../../cache/snapshot-differ.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { NodeFacts } from './node-facts.ts';
import type { NodeFilter } from './node-filter.ts';
import { type Comparison, comparisonBy, type NodeIdentity } from './sort-keys.ts';

/** Maximum number of cached selections; the least recently used one is evicted. */
const MAX_SELECTIONS = 64;
/** Maximum length of the key of a cached selection. Longer filters are specific to one client. */
const MAX_KEY = 4096;

export class NodeIndex {
  readonly #nodes = new SnapshotDiffer<NodeFacts>();
  readonly #orders = new Map<NodeSortKey, SortOrder>();
  readonly #selections = new BoundedMap<string, SortOrder>(MAX_SELECTIONS);

  /**
   * Returns the nodes of `snapshot` that pass `filter`, in ascending order. The array is valid until the next call. The
   * time for a new snapshot is proportional to the number of changed nodes.
   */
  sorted(
    snapshot: ObjectSnapshot<NodeFacts>,
    sortBy: NodeSortKey,
    filter: NodeFilter,
  ): readonly NodeIdentity[] {
    this.#follow(snapshot);
    return filter.key === '' ? this.#order(sortBy).nodes : this.#selection(sortBy, filter).nodes;
  }

  #follow(snapshot: ObjectSnapshot<NodeFacts>): void {
    const { removed, set } = this.#nodes.follow(snapshot);
    if (removed.length === 0 && set.length === 0) return;
    for (const order of this.#orders.values()) order.change(removed, set);
    for (const selection of this.#selections.values()) selection.change(removed, set);
  }

  #order(sortBy: NodeSortKey): SortOrder {
    let order = this.#orders.get(sortBy);
    if (!order) {
      const compare = comparisonBy(sortBy);
      order = new SortOrder(compare, () => true, this.#nodes.objects().sort(compare));
      this.#orders.set(sortBy, order);
    }
    return order;
  }

  #selection(sortBy: NodeSortKey, filter: NodeFilter): SortOrder {
    const key = `${sortBy} ${filter.key}`;
    const known = this.#selections.get(key);
    const selection = known ?? new SortOrder(comparisonBy(sortBy), filter.test, this.#order(sortBy).nodes);
    if (key.length <= MAX_KEY) this.#selections.set(key, selection);
    return selection;
  }
}

/** Share of changed nodes above which sorting all nodes is faster than inserting each changed node. */
const RESORT_SHARE = 1 / 16;

/** A sorted selection of nodes, updated by inserting and removing single nodes. */
export class SortOrder {
  readonly #compare: Comparison;
  readonly #test: (node: NodeIdentity) => boolean;
  #nodes: NodeIdentity[];

  /** `sorted`: the initial nodes, already sorted by `compare` and filtered by `test`. */
  constructor(compare: Comparison, test: (node: NodeIdentity) => boolean, sorted: readonly NodeIdentity[]) {
    this.#compare = compare;
    this.#test = test;
    this.#nodes = sorted.filter(test);
  }

  /** The nodes in ascending order. The array is valid until the next change. */
  get nodes(): readonly NodeIdentity[] {
    return this.#nodes;
  }

  /** `removed`: previous states of removed and changed nodes. `added`: current states of new and changed nodes. */
  change(removed: readonly NodeIdentity[], added: readonly NodeIdentity[]): void {
    const entering = added.filter(this.#test);
    if (removed.length + entering.length > 1 + this.#nodes.length * RESORT_SHARE) {
      const gone = new Set(removed.map(({ key }) => key));
      const kept = this.#nodes.filter(({ key }) => !gone.has(key));
      this.#nodes = [...kept, ...entering].sort(this.#compare);
      return;
    }
    for (const node of removed) {
      const at = this.#search(node);
      if (this.#nodes[at]?.key === node.key) this.#nodes.splice(at, 1);
    }
    for (const node of entering) this.#nodes.splice(this.#search(node), 0, node);
  }

  /** Returns the index of `node`, or its insertion index. */
  #search(node: NodeIdentity): number {
    let low = 0;
    let high = this.#nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#nodes[middle];
      if (other && this.#compare(other, node) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
