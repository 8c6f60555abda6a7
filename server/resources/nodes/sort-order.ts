import type { Comparison, NodeIdentity } from './sort-keys.ts';

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
