// Nodes in the orders and selections that consoles ask for. Owns no node: it follows the snapshots of the cache, which
// keeps the bytes, and holds what each order needs. Used by endpoints/platform.
import type { NodeSortKey } from '../../../apis/resources/v1alpha3/node-query.ts';
import type { ObjectSnapshot } from '../../cache/snapshots/object-snapshot.ts';
import { SnapshotFollower } from '../../cache/snapshots/snapshot-follower.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { NodeFacts } from './facts.ts';
import type { NodeFilter } from './platform-filter.ts';
import { comparisonBy, type NodeIdentity } from './sort-keys.ts';
import { SortOrder } from './sort-order.ts';

/** Selections that are kept in step with the nodes, those asked for last. */
const MAX_SELECTIONS = 64;
/** Longer ones are peculiar to one client, and are made anew for each request. */
const MAX_KEY = 4096;

export class NodeIndex {
  readonly #nodes = new SnapshotFollower<NodeFacts>();
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
