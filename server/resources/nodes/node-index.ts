// Nodes in the orders and selections that consoles ask for. Owns no node: it follows the snapshots of the cache, which
// keeps the bytes, and holds what each order needs. Used by endpoints/platform.
import type { NodeSortKey } from '../../../apis/resources/v1alpha3/node-query.ts';
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import { SnapshotDiffer } from '../../cache/snapshot-differ.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { NodeFacts } from './node-facts.ts';
import type { NodeFilter } from './node-filter.ts';
import { type Comparison, comparisonBy, type NodeIdentity } from './sort-keys.ts';

/** Selections that are kept in step with the nodes, those asked for last. */
const MAX_SELECTIONS = 64;
/** Longer ones are peculiar to one client, and are made anew for each request. */
const MAX_KEY = 4096;

export class NodeIndex {
  readonly #nodes = new SnapshotDiffer<NodeFacts>();
  readonly #orders = new Map<NodeSortKey, SortOrder>();
  readonly #selections = new BoundedMap<string, SortOrder>(MAX_SELECTIONS);

  /**
   * The nodes of `snapshot` that pass `filter`, smallest first. The array is good until the next call; a snapshot
   * that is not the one before costs about its changes.
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

/** Changes above this share of the nodes are cheaper sorted anew than put in one by one. */
const RESORT_SHARE = 1 / 16;

/** Nodes that pass a test, kept in an order: a change moves its own node and no other. */
export class SortOrder {
  readonly #compare: Comparison;
  readonly #test: (node: NodeIdentity) => boolean;
  #nodes: NodeIdentity[];

  /** `sorted`: nodes in this order, of which those that pass `test` are taken. */
  constructor(compare: Comparison, test: (node: NodeIdentity) => boolean, sorted: readonly NodeIdentity[]) {
    this.#compare = compare;
    this.#test = test;
    this.#nodes = sorted.filter(test);
  }

  /** Smallest first. Good until the next change. */
  get nodes(): readonly NodeIdentity[] {
    return this.#nodes;
  }

  /** `removed` are as they were before, also those that come back changed in `added`. */
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

  /** Where `node` is or would have to be. */
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
