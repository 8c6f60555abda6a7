// Test fixture: the HTTP handler of lists under `/kapis`, without a cluster. The test provides the objects and the
// permissions.
import { LRUCache } from 'lru-cache';

import { newNotFound } from '../../../apis/meta/v1/errors.ts';
import type { Attributes, ResourceAttributes } from '../../../server/authorization/authorizer.ts';
import { NamespaceScopes } from '../../../server/authorization/namespace-scopes.ts';
import type { Namespace } from '../../../server/authorization/namespaces.ts';
import type { InformerCache } from '../../../server/cache/informer-cache.ts';
import { TimeSlicer } from '../../../server/concurrency/time-slicer.ts';
import { KindLists, type KindListsOptions, type PlatformLists } from '../../../server/lists/kind-lists.ts';
import { ListAccess } from '../../../server/lists/list-access.ts';
import type { LiveOptions } from '../../../server/lists/live-list.ts';
import { platformHandler } from '../../../server/lists/platform-handler.ts';
import { Search } from '../../../server/lists/search.ts';
import type { Handler } from '../../../server/request/request-context.ts';
import type { Kind } from '../../../server/resources/kind.ts';
import { ListIndex } from '../../../server/resources/lists/list-index.ts';
import type { NodeFacts } from '../../../server/resources/nodes/node-facts.ts';
import { nodeProfile } from '../../../server/resources/nodes/node-profile.ts';
import { nodes } from '../cluster/node-cache.ts';

const PLATFORM_GROUP = 'resources.platform.io';
const PLATFORM_VERSION = `${PLATFORM_GROUP}/v1alpha3`;
export const PLATFORM_PATH = `/kapis/${PLATFORM_VERSION}`;

export const NODES: Kind = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

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
    resolve: (resource: string) => find(({ plural }) => plural === resource, resource).kind,
    lists: (kind: Kind) => {
      const found = find((other) => other.plural === kind.plural, kind.plural);
      return sync ? sync(kind).then(() => found) : found;
    },
    get followed() {
      return lists().map(({ kind }) => kind);
    },
  };
  return platformHandler({
    group: PLATFORM_GROUP,
    kinds,
    access: new ListAccess({ group: PLATFORM_GROUP, authorizer, scopes }),
    // There are no Services.
    services: { labels: async () => undefined },
    live,
    search: new Search({ apiVersion: PLATFORM_VERSION, kinds }),
  });
}

export interface NodeListsOptions extends Pick<KindListsOptions<NodeFacts>, 'computed'>, PlatformOptions {
  readonly cache: InformerCache<NodeFacts>;
}

/** The handler of the platform lists of nodes. */
export function platformNodes({ cache, computed, ...options }: NodeListsOptions): Handler {
  const slicer = new TimeSlicer();
  const profile = nodeProfile(nodes);
  const lists = new KindLists({
    listed: {
      kind: NODES,
      profile,
      index: new ListIndex(profile, slicer),
      head: cache.head,
      snapshot: () => cache.snapshot(),
      onChange: (changed) => cache.onChange(changed),
    },
    path: PLATFORM_PATH,
    apiVersion: PLATFORM_VERSION,
    slicer,
    bodies: new LRUCache({ maxSize: 1 << 20, sizeCalculation: ({ length }) => length }),
    ...(computed ? { computed } : {}),
  });
  return platformLists(() => [lists], options);
}
