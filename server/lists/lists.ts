// Creates the lists, live lists and search under `/kapis` from the configuration.

import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import { groupName, VERSION } from '../../apis/resources/v1alpha3/group-version.ts';
import type { Admission } from '../admission/admission.ts';
import type { Authorizer, ResourceAttributes } from '../authorization/authorizer.ts';
import type { NamespaceScopes } from '../authorization/namespace-scopes.ts';
import { openToAuthenticated } from '../authorization/open-to-authenticated.ts';
import type { CacheMetrics } from '../cache/cache-metrics.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { TimeSlicer } from '../concurrency/time-slicer.ts';
import type { CompletedConfig } from '../config/config.ts';
import { acceptsEvents } from '../http/accept.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { LongRunning } from '../request/long-running.ts';
import type { ResourceRoute } from '../request/resource-route.ts';
import { apiVersionOf, exactName, type Kind, PODS } from '../resources/kind.ts';
import type { FollowedKind } from '../resources/kinds/followed-kind.ts';
import { FollowedKinds } from '../resources/kinds/followed-kinds.ts';
import { KIND_LIMITS, type KindLimits } from '../resources/kinds/followed-kinds-options.ts';
import { ListIndex } from '../resources/lists/list-index.ts';
import { nodeProfile } from '../resources/nodes/node-profile.ts';
import { RecentWrites, type WrittenCache } from '../resources/recent-writes.ts';
import { type Caller, KindLists, type PlatformLists } from './kind-lists.ts';
import { ListAccess } from './list-access.ts';
import { NodeUsage, usageAnnotations } from './node-usage.ts';
import { platformHandler } from './platform-handler.ts';
import { Search } from './search.ts';
import { ServiceSelectors } from './service-selectors.ts';

export interface Resources {
  readonly route: ResourceRoute;
  /** The writes that reads of the same caller must contain. */
  readonly writes: RecentWrites;
  readonly isLongRunning: LongRunning;
  /** The authorizer of the filter chain: every authenticated caller may list, and the handler checks the permissions. */
  authorizer(inner: Authorizer): Authorizer;
}

export interface ResourcesDependencies {
  readonly client: ClusterClient;
  readonly nodes: Nodes;
  readonly kinds: Kinds;
  /** Cached. */
  readonly authorizer: Authorizer;
  readonly scopes: Pick<NamespaceScopes, 'of' | 'within'>;
  readonly admission: Pick<Admission, 'pool'>;
}

/** Memory of the bodies of recently requested pages of all kinds: a share of the budget, and a maximum in bytes. */
const BODIES_SHARE = 1 / 8;
export const MAX_BODIES = 32 << 20;

/** Minimum time between two events of a live list, in ms: a person cannot read faster. */
export const LIVE_INTERVAL_MS = 1_000;

/** Maximum time in ms in which a list has to contain the writes of its caller. */
const MAX_WRITE_MS = 3_000;

/** Shares of the memory of this process for all caches. The other memory is for requests, logs and garbage. */
const MEMORY_SHARE = 0.4;
/** Facts and indexes are in the heap, compressed objects are not. */
const HEAP_SHARE = 0.6;

/** The budget without a configured one, in bytes. */
function defaultBudget(): number {
  // 0 or a number beyond the machine without a limit.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const memory = Math.min(limit, totalmem());
  return Math.floor(Math.min(memory * MEMORY_SHARE, getHeapStatistics().heap_size_limit * HEAP_SHARE));
}

const NODES: Kind = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

/** The kinds of the cluster, and what all their lists share. */
export interface Kinds {
  readonly followed: FollowedKinds;
  /** Shared, because all lists together must not block the event loop. */
  readonly slicer: TimeSlicer;
  /** Bodies of recently requested pages. */
  readonly bodies: LRUCache<string, Buffer>;
}

export interface KindsDependencies {
  readonly client: ClusterClient;
  readonly nodes: Pick<Nodes, 'informer'>;
  readonly log: Logger;
  readonly cacheMetrics: CacheMetrics;
  /** Replaces values of KIND_LIMITS. */
  readonly kindLimits?: Partial<KindLimits>;
}

export function newKinds(
  { platform, resources: options, logging }: Pick<CompletedConfig, 'platform' | 'resources' | 'logging'>,
  { client, nodes, log, cacheMetrics, kindLimits }: KindsDependencies,
): Kinds {
  const slicer = new TimeSlicer();
  const memoryBudget = options.memoryBudget || defaultBudget();
  const bodies = new LRUCache<string, Buffer>({
    maxSize: Math.ceil(Math.min(MAX_BODIES, memoryBudget * BODIES_SHARE)),
    sizeCalculation: ({ length }) => length,
  });
  const { cache } = nodes.informer;
  const followed = new FollowedKinds({
    client,
    log: log.child({ component: 'resources' }),
    domain: `${platform.name}.io`,
    slicer,
    preload: options.preload,
    restricted: options.restricted,
    callerIndependent: options.callerIndependent,
    memoryBudget,
    otherBytes: () => cache.bytes + bodies.calculatedSize,
    ...KIND_LIMITS,
    ...kindLimits,
    features: {
      podLogs: logging.enabled && logging.store === 'kubernetes',
      nodeUsage: options.nodes.usageAnnotations,
    },
    metrics: {
      observe: (kind, copy) => cacheMetrics.observe(exactName(kind), copy),
      remove: (kind) => cacheMetrics.remove(exactName(kind)),
    },
  });
  return { followed, slicer, bodies };
}

export function newResources(
  { platform, resources: options }: Pick<CompletedConfig, 'platform' | 'resources'>,
  {
    client,
    nodes,
    kinds: { followed, slicer, bodies },
    authorizer,
    scopes,
    admission,
  }: ResourcesDependencies,
): Resources {
  const group = groupName(platform.name);
  const apiVersion = `${group}/${VERSION}`;
  const path = `/kapis/${apiVersion}`;
  const { cache } = nodes.informer;
  const usage = options.nodes.usageAnnotations ? new NodeUsage(followed.copies.hold(PODS)) : undefined;
  const profile = nodeProfile(nodes.definition);
  const nodeLists = new KindLists({
    listed: {
      kind: NODES,
      profile,
      index: new ListIndex(profile, slicer),
      head: cache.head,
      snapshot: () => cache.snapshot(),
      onChange: (changed) => cache.onChange(changed),
    },
    path,
    apiVersion,
    slicer,
    bodies,
    ...(usage ? { computed: usageAnnotations(usage, `${platform.name}.io`) } : {}),
  });
  const known = new WeakMap<FollowedKind, PlatformLists>();
  const listsOf = (kind: FollowedKind): PlatformLists => {
    let lists = known.get(kind);
    if (!lists) {
      lists = new KindLists({
        listed: kind,
        path,
        apiVersion: apiVersionOf(kind.kind),
        slicer,
        bodies,
      });
      known.set(kind, lists);
    }
    return lists;
  };
  const writes = new RecentWrites((kind) => exactName(kind) === NODES.plural || followed.follows(kind));
  /** Returns the lists when they contain the writes of the caller. Throws ServiceUnavailable if this takes too long. */
  const withWrites = (
    lists: PlatformLists,
    cached: WrittenCache,
    caller: Caller,
  ): Promise<PlatformLists> | PlatformLists => {
    const { kind } = lists;
    const { user } = caller;
    if (!writes.pending(user, kind, cached)) return lists;
    return writes.contained(user, kind, cached, MAX_WRITE_MS, caller.signal).then((contained) => {
      if (contained) return lists;
      throw newServiceUnavailable(`the list of ${exactName(kind)} does not contain your last write yet`, 1);
    });
  };
  const kinds = {
    resolve: (resource: string, call: CallContext) =>
      resource === NODES.plural ? NODES : followed.catalog.resolve(resource, call),
    lists: (kind: Kind, caller: Caller) => {
      if (kind === NODES) return withWrites(nodeLists, nodes.informer, caller);
      const used = followed.use(kind, caller);
      if (!(used instanceof Promise)) return withWrites(listsOf(used), used, caller);
      return used.then((synced) => withWrites(listsOf(synced), synced, caller));
    },
    get followed() {
      return [NODES, ...followed.synced.map(({ kind }) => kind)];
    },
  };
  const access = new ListAccess({ group, authorizer, scopes });
  const handler = platformHandler({
    group,
    kinds,
    access,
    services: new ServiceSelectors(client, access),
    live: {
      intervalMs: LIVE_INTERVAL_MS,
      seats: admission.pool('live-pages', { capacity: 1, sharing: 'queue' }),
    },
    search: new Search({ apiVersion, kinds }),
  });
  const isOurs = (info: Pick<ResourceAttributes, 'prefix' | 'group' | 'version'>): boolean =>
    info.prefix === 'kapis' && info.group === group && info.version === VERSION;
  return {
    route: {
      prefix: 'kapis',
      group,
      version: VERSION,
      resource: '*',
      serves: (resource) =>
        resource === NODES.plural || resource === 'search' || followed.catalog.has(resource),
      handler,
    },
    writes,
    isLongRunning: ({ info, request }) =>
      info.isResourceRequest && isOurs(info) && acceptsEvents(request.headers.accept),
    authorizer: (inner) => openToAuthenticated(inner, (attributes) => isOurs(attributes)),
  };
}
