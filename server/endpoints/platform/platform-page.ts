import type { CachedObject } from '../../cache/objects/cached-object.ts';
import type { ObjectSnapshot } from '../../cache/snapshots/object-snapshot.ts';
import type { NodeFacts } from '../../resources/nodes/facts.ts';
import type { NodeIndex } from '../../resources/nodes/platform-index.ts';
import type { ListQuery } from './platform-query.ts';

export interface PlatformPage {
  readonly nodes: readonly CachedObject<NodeFacts>[];
  /** Nodes on all pages together. */
  readonly total: number;
}

/** The page of `snapshot` that the query asks for. Costs about the page once the order is there. */
export function pageOf(
  snapshot: ObjectSnapshot<NodeFacts>,
  index: NodeIndex,
  query: ListQuery,
): PlatformPage {
  const sorted = index.sorted(snapshot, query.sortBy, query.filter);
  const total = sorted.length;
  const limit = query.limit < 0 ? total : query.limit;
  const first = (query.page - 1) * limit;
  const nodes: CachedObject<NodeFacts>[] = [];
  for (let i = first; i < Math.min(first + limit, total); i++) {
    const identity = sorted[query.ascending ? i : total - 1 - i];
    const node = identity && snapshot.get(identity.key);
    if (node) nodes.push(node);
  }
  return { nodes, total };
}
