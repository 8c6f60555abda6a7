// Nodes in the orders and selections that consoles ask for. Owns no node: it follows the snapshots of the cache, which
// keeps the bytes, and holds what each order needs. Who asks is endpoints/platform.
import type { NodeSortKey } from '../../../apis/resources/v1alpha3/node-query.ts';
import type { CachedObject } from '../../cache/cached-object.ts';
import type { ObjectSnapshot } from '../../cache/snapshot.ts';
import { changesBetween } from '../../cache/snapshot-changes.ts';
import type { NodeFacts } from './facts.ts';
import type { NodeFilter } from './platform-filter.ts';
import { comparisonBy, type NodeIdentity } from './sort-keys.ts';
import { SortOrder } from './sort-order.ts';

/** Selections that are kept in step with the nodes, those asked for last. */
const MAX_SELECTIONS = 64;

export class NodeIndex {
  /** Of what the orders hold; undefined before the first read. */
  #snapshot: ObjectSnapshot<NodeFacts> | undefined;
  /** resourceVersion of the snapshot that brought the last change. */
  #version = '';
  readonly #nodes = new Map<string, NodeIdentity>();
  readonly #orders = new Map<NodeSortKey, SortOrder>();
  /** The least recently asked for comes first. */
  readonly #selections = new Map<string, SortOrder>();

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

  /** Equal for two snapshots exactly when all nodes are the same, whatever bookmarks came in between. */
  version(snapshot: ObjectSnapshot<NodeFacts>): string {
    this.#follow(snapshot);
    return this.#version;
  }

  #follow(snapshot: ObjectSnapshot<NodeFacts>): void {
    const before = this.#snapshot;
    if (before === snapshot) return;
    this.#snapshot = snapshot;
    const { removed, set } = before
      ? changesBetween(before, snapshot)
      : { removed: [], set: [...snapshot.objects()] };
    if (before && removed.length === 0 && set.length === 0) return;
    this.#version = snapshot.resourceVersion;
    const gone: NodeIdentity[] = [];
    for (const key of [...removed, ...set.map(({ key }) => key)]) {
      const node = this.#nodes.get(key);
      if (node) gone.push(node);
    }
    const come = set.map(withoutBytes);
    for (const key of removed) this.#nodes.delete(key);
    for (const node of come) this.#nodes.set(node.key, node);
    for (const order of this.#orders.values()) order.change(gone, come);
    for (const selection of this.#selections.values()) selection.change(gone, come);
  }

  #order(sortBy: NodeSortKey): SortOrder {
    let order = this.#orders.get(sortBy);
    if (!order) {
      const compare = comparisonBy(sortBy);
      order = new SortOrder(compare, () => true, [...this.#nodes.values()].sort(compare));
      this.#orders.set(sortBy, order);
    }
    return order;
  }

  #selection(sortBy: NodeSortKey, filter: NodeFilter): SortOrder {
    const key = `${sortBy} ${filter.key}`;
    const known = this.#selections.get(key);
    const selection = known ?? new SortOrder(comparisonBy(sortBy), filter.test, this.#order(sortBy).nodes);
    this.#selections.delete(key);
    this.#selections.set(key, selection);
    if (this.#selections.size > MAX_SELECTIONS) {
      for (const oldest of this.#selections.keys()) {
        this.#selections.delete(oldest);
        break;
      }
    }
    return selection;
  }
}

function withoutBytes({
  key,
  name,
  namespace,
  uid,
  resourceVersion,
  labels,
  facts,
}: CachedObject<NodeFacts>): NodeIdentity {
  return { key, name, namespace, uid, resourceVersion, labels, facts };
}
