// Creates the lists, live lists and search under `/kapis` from the configuration.

import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import { groupName, VERSION } from '../../apis/resources/v1alpha3/group-version.ts';
import type { Admission } from '../admission/admission.ts';
import type { Authorizer, ResourceAttributes } from '../authorization/authorizer.ts';
import type { NamespaceScopes } from '../authorization/namespace-scopes.ts';
import { openToAuthenticated } from '../authorization/open-to-authenticated.ts';
import { ObjectHead } from '../cache/resource-cache.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { LongRunningOf } from '../request/long-running.ts';
import type { Handler } from '../request/request-context.ts';
import type { ResourceRoute } from '../request/resource-route.ts';
import { apiVersionOf, exactName, type Kind, NODES, PODS } from '../resources/kind.ts';
import type { FollowedKind } from '../resources/kinds/followed-kind.ts';
import type { Kinds } from '../resources/kinds/kinds.ts';
import { ListIndex } from '../resources/lists/list-index.ts';
import type { KindFacts } from '../resources/profiles/kind-values.ts';
import { RecentWrites, type WrittenCache } from '../resources/recent-writes.ts';
import { type Caller, KindLists, type PlatformLists, type ServedKinds } from './kind-lists.ts';
import { ListAccess } from './list-access.ts';
import type { LiveOptions } from './live-list.ts';
import { NodeUsage, usageAnnotations } from './node-usage.ts';
import { isLive, platformHandler } from './platform-handler.ts';
import type { ComputedAnnotations } from './platform-item.ts';
import { Search } from './search.ts';
import { ServiceSelectors } from './service-selectors.ts';

export interface Resources {
  readonly route: ResourceRoute;
  /** The writes that reads of the same caller must contain. */
  readonly writes: RecentWrites;
  readonly isLongRunning: LongRunningOf;
  /** The authorizer of the filter chain: every authenticated caller may list, and the handler checks the permissions. */
  authorizer(inner: Authorizer): Authorizer;
}

interface ResourcesDependencies {
  readonly client: ClusterClient;
  readonly nodes: Nodes;
  readonly kinds: Kinds;
  /** Cached. */
  readonly authorizer: Authorizer;
  readonly scopes: Pick<NamespaceScopes, 'of' | 'within'>;
  readonly admission: Pick<Admission, 'pool'>;
}

/** Minimum time between two events of a live list, in ms: a person cannot read faster. */
export const LIVE_INTERVAL_MS = 1_000;

/** Maximum time in ms in which a list has to contain the writes of its caller. */
const MAX_WRITE_MS = 3_000;

/** What all lists share. */
type Shared = Pick<Kinds, 'slicer' | 'bodies'>;

/** Returns the lists of nodes. Their objects have the `apiVersion` of the aggregated API. */
export function newNodeLists(
  {
    definition,
    copy: { cache, profile },
  }: { readonly definition: Nodes['definition']; readonly copy: NodeCopy },
  { slicer, bodies }: Shared,
  computed?: ComputedAnnotations<KindFacts>,
): PlatformLists {
  return new KindLists({
    listed: {
      kind: NODES,
      profile,
      index: new ListIndex(profile, slicer),
      head: new ObjectHead(definition),
      snapshot: () => cache.snapshot(),
      onChange: (changed) => cache.onChange(changed),
    },
    path: pathOf(definition.group),
    apiVersion: apiVersionOf(definition),
    slicer,
    bodies,
    ...(computed ? { computed } : {}),
  });
}

type NodeCopy = Pick<Nodes['copy'], 'cache' | 'profile'>;

/** Returns the lists of any kind. `group`: of the API. */
export function newKindLists(listed: FollowedKind, group: string, { slicer, bodies }: Shared): PlatformLists {
  return new KindLists({
    listed,
    path: pathOf(group),
    apiVersion: apiVersionOf(listed.kind),
    slicer,
    bodies,
  });
}

function pathOf(group: string): string {
  return `/kapis/${group}/${VERSION}`;
}

interface ListsHandlerOptions extends Pick<ResourcesDependencies, 'authorizer' | 'scopes'> {
  /** Of the API. */
  readonly group: string;
  readonly kinds: ServedKinds & { readonly followed: readonly Kind[] };
  readonly live: LiveOptions;
  /** Returns the selectors of Services. */
  readonly services: (access: ListAccess) => Pick<ServiceSelectors, 'labels'>;
}

/** Returns the handler of lists, live lists and search. */
export function listsHandler({
  group,
  kinds,
  authorizer,
  scopes,
  services,
  live,
}: ListsHandlerOptions): Handler {
  const access = new ListAccess({ group, authorizer, scopes });
  const search = new Search({ apiVersion: `${group}/${VERSION}`, kinds });
  return platformHandler({ group, kinds, access, services: services(access), live, search });
}

export function newResources(
  { platform, resources: options }: Pick<CompletedConfig, 'platform' | 'resources'>,
  { client, nodes, kinds: shared, authorizer, scopes, admission }: ResourcesDependencies,
): Resources {
  const group = groupName(platform.name);
  const { followed } = shared;
  const usage = options.nodes.usageAnnotations ? new NodeUsage(followed.copies.hold(PODS)) : undefined;
  const nodeLists = newNodeLists(nodes, shared, usage && usageAnnotations(usage, `${platform.name}.io`));
  const known = new WeakMap<FollowedKind, PlatformLists>();
  const listsOf = (kind: FollowedKind): PlatformLists => {
    let lists = known.get(kind);
    if (!lists) {
      lists = newKindLists(kind, group, shared);
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
      if (kind === NODES) return withWrites(nodeLists, nodes.copy.informer, caller);
      const used = followed.use(kind, caller);
      if (!(used instanceof Promise)) return withWrites(listsOf(used), used, caller);
      return used.then((synced) => withWrites(listsOf(synced), synced, caller));
    },
    get followed() {
      return [NODES, ...followed.synced.map(({ kind }) => kind)];
    },
  };
  const handler = listsHandler({
    group,
    kinds,
    authorizer,
    scopes,
    services: (access) => new ServiceSelectors(client, access),
    live: {
      intervalMs: LIVE_INTERVAL_MS,
      seats: admission.pool('live-pages', { capacity: 1, sharing: 'queue' }),
    },
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
      info.isResourceRequest && isOurs(info) ? isLive(info, request) : undefined,
    authorizer: (inner) => openToAuthenticated(inner, (attributes) => isOurs(attributes)),
  };
}
