// Test fixture: the HTTP handler of lists under `/kapis`, without a cluster. The test provides the objects and the
// permissions.
import { LRUCache } from 'lru-cache';

import { newNotFound } from '../../../apis/meta/v1/errors.ts';
import type { Attributes, ResourceAttributes } from '../../../server/authorization/authorizer.ts';
import { NamespaceScopes } from '../../../server/authorization/namespace-scopes.ts';
import type { Namespace } from '../../../server/authorization/namespaces.ts';
import type { InformerCache } from '../../../server/cache/informer-cache.ts';
import { TimeSlicer } from '../../../server/concurrency/time-slicer.ts';
import type { PlatformLists } from '../../../server/lists/kind-lists.ts';
import { listsHandler, newNodeLists } from '../../../server/lists/lists.ts';
import type { LiveOptions } from '../../../server/lists/live-list.ts';
import type { ComputedAnnotations } from '../../../server/lists/platform-item.ts';
import type { Handler } from '../../../server/request/request-context.ts';
import { exactName, type Kind } from '../../../server/resources/kind.ts';
import type { KindFacts } from '../../../server/resources/profiles/kind-values.ts';
import { nodes, nodeProfile as profile } from '../cluster/node-cache.ts';

const PLATFORM_GROUP = 'resources.platform.io';
export const PLATFORM_PATH = `/kapis/${PLATFORM_GROUP}/v1alpha3`;

export interface PlatformOptions {
  /** Permission of the caller; everything by default. */
  readonly allowed?: (attributes: ResourceAttributes) => Promise<boolean> | boolean;
  /** All namespaces of the cluster. */
  readonly namespaces?: readonly string[];
  readonly live?: LiveOptions;
  /** The wait of each request for the first list of a kind; none by default. */
  readonly sync?: (kind: Kind) => Promise<void>;
}

/** `lists`: called for each request, because definitions of kinds change. */
export function platformLists(
  lists: () => readonly PlatformLists[],
  { allowed = () => true, namespaces = [], live = { intervalMs: 1 }, sync }: PlatformOptions = {},
): Handler {
  const authorizer = {
    authorize: async (attributes: Attributes) => {
      if (!('resource' in attributes)) throw new TypeError('a review of a path');
      return { allowed: await allowed(attributes), reason: '' };
    },
  };
  const known = new Map<string, Namespace>(namespaces.map((name) => [name, { name, createdAt: 0 }]));
  const scopes = new NamespaceScopes({
    authorizer,
    namespaces: () => known,
    allowTtlMs: 0,
    denyTtlMs: 0,
    signal: new AbortController().signal,
  });
  const find = (test: (kind: Kind) => boolean, resource: string): PlatformLists => {
    const found = lists().find(({ kind }) => test(kind));
    if (!found) throw newNotFound({ group: '', resource: 'resources' }, resource);
    return found;
  };
  const kinds = {
    resolve: (resource: string) =>
      find((kind) => kind.plural === resource || exactName(kind) === resource, resource).kind,
    lists: (kind: Kind) => {
      const name = exactName(kind);
      const found = find((other) => exactName(other) === name, name);
      return sync ? sync(kind).then(() => found) : found;
    },
    get followed() {
      return lists().map(({ kind }) => kind);
    },
  };
  return listsHandler({
    group: PLATFORM_GROUP,
    kinds,
    authorizer,
    scopes,
    // There are no Services.
    services: () => ({ labels: async () => undefined }),
    live,
  });
}

interface NodeListsOptions extends PlatformOptions {
  readonly cache: InformerCache<KindFacts>;
  readonly computed?: ComputedAnnotations<KindFacts>;
}

/** The handler of the platform lists of nodes. */
export function platformNodes({ cache, computed, ...options }: NodeListsOptions): Handler {
  const shared = {
    slicer: new TimeSlicer(),
    bodies: new LRUCache<string, Buffer>({ maxSize: 1 << 20, sizeCalculation: ({ length }) => length }),
  };
  const lists = newNodeLists({ definition: nodes, copy: { cache, profile } }, shared, computed);
  return platformLists(() => [lists], options);
}
