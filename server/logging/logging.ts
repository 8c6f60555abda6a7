// Creates the log store, permission checks, routes and health check of log queries from the configuration. Only the
// code of the configured log store is loaded.
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { plaintextURLs } from '../../apis/config/v1alpha1/logging-validation.ts';
import {
  groupName,
  KIND,
  RESOURCE,
  SINGULAR,
  tenantGroupName,
  VERSION,
} from '../../apis/logging/v1alpha2/group-version.ts';
import type { Admission } from '../admission/admission.ts';
import type { Authorizer, ResourceAttributes } from '../authorization/authorizer.ts';
import type { NamespaceScopes } from '../authorization/namespace-scopes.ts';
import { openToAuthenticated } from '../authorization/open-to-authenticated.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { TimeSlicer } from '../concurrency/time-slicer.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { DiscoveredResource } from '../endpoints/discovery/documents.ts';
import { describedLogQueries } from '../endpoints/openapi/described-log-queries.ts';
import type { DescribedGroup } from '../endpoints/openapi/operations.ts';
import { REQUEST_TIMEOUT_MS } from '../filters/deadline.ts';
import type { LongRunningOf } from '../request/long-running.ts';
import type { Handler } from '../request/request-context.ts';
import type { ResourceRoute } from '../request/resource-route.ts';
import { PODS } from '../resources/kind.ts';
import type { KindCopies } from '../resources/kinds/kind-copies.ts';
import { Scopes } from './access/scope.ts';
import { isLongRunningQuery, LOG_LIMITS, logsHandler } from './endpoints/logs-handler.ts';
import { REMOVED_RESOURCES, removedOperations } from './endpoints/removed-operations.ts';
import { LogMetrics } from './store/log-metrics.ts';
import type { LogBackend } from './store/log-store.ts';
import { StoreHealth } from './store/store-health.ts';

export interface Logs {
  readonly routes: readonly ResourceRoute[];
  /** For discovery: `get` only, so that controllers do not list, watch or delete logs. */
  readonly discovered: DiscoveredResource;
  readonly described: DescribedGroup;
  /** Background work. */
  readonly followers: readonly { run(signal: AbortSignal): Promise<void> }[];
  readonly isLongRunning: LongRunningOf;
  /** The authorizer of the filter chain: every authenticated caller may query, and the handler applies the scope. */
  authorizer(inner: Authorizer): Authorizer;
  /** For an informational health check: an outage of the log store must not affect readiness. */
  describe(): string;
}

interface LogsDependencies {
  readonly client: ClusterClient;
  readonly copies: Pick<KindCopies, 'hold'>;
  readonly scopes: Pick<NamespaceScopes, 'of'>;
  readonly admission: Pick<Admission, 'pool'>;
  readonly log: Logger;
  readonly metrics: Registry;
}

type LogsConfig = Pick<CompletedConfig, 'platform' | 'logging'>;

/** Does not connect to the store. */
export async function newLogs(
  { platform, logging }: LogsConfig,
  { client, copies, scopes, admission, log: parent, metrics: registry }: LogsDependencies,
): Promise<Logs> {
  const log = parent.child({ component: 'logs' });
  const group = groupName(platform.name);
  const tenantGroup = tenantGroupName(platform.name);
  const metrics = new LogMetrics(registry);
  for (const url of plaintextURLs(logging)) {
    log.warn({ store: logging.store, url }, 'the connection to the log store is not encrypted');
  }
  // Shared, because all queries together must not block the event loop.
  const slicer = new TimeSlicer();
  const store = await newLogStore(logging, { client, copies, admission, log, slicer });
  const health = new StoreHealth({ name: logging.store, backend: store, metrics, log });
  const handler = logsHandler({
    store,
    storeName: logging.store,
    scopes: new Scopes(scopes),
    limits: LOG_LIMITS,
    admission,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    slicer,
    metrics,
    log: log.child({ store: logging.store }),
  });
  const removed = (prefix: 'apis' | 'kapis'): Handler =>
    removedOperations(`/${prefix}/${group}/${VERSION}/${RESOURCE}`);
  const own = { group, version: VERSION };
  const routes: ResourceRoute[] = [
    { prefix: 'kapis', group: tenantGroup, version: VERSION, resource: RESOURCE, handler },
    ...(['apis', 'kapis'] as const).flatMap((prefix) => [
      { ...own, prefix, resource: RESOURCE, handler },
      ...REMOVED_RESOURCES.map((resource) => ({ ...own, prefix, resource, handler: removed(prefix) })),
    ]),
  ];
  const isOurs = (info: Pick<ResourceAttributes, 'group' | 'version' | 'resource'>): boolean =>
    routes.some(
      (route) =>
        route.group === info.group && route.version === info.version && route.resource === info.resource,
    );
  return {
    routes,
    discovered: {
      group,
      version: VERSION,
      kind: KIND,
      plural: RESOURCE,
      singular: SINGULAR,
      namespaced: false,
      verbs: ['get'],
    },
    described: describedLogQueries(group),
    followers: [store, health],
    // Runs for every request, so the query, which is parsed on access, is last.
    isLongRunning: (context) =>
      context.info.isResourceRequest && context.info.resource === RESOURCE && isOurs(context.info)
        ? isLongRunningQuery(context.query)
        : undefined,
    authorizer: (inner) => openToAuthenticated(inner, isOurs),
    describe: () => health.describe(),
  };
}

async function newLogStore(
  { store, opensearch, victorialogs }: CompletedConfig['logging'],
  {
    client,
    copies,
    admission,
    log: parent,
    slicer,
  }: Pick<LogsDependencies, 'client' | 'copies' | 'admission' | 'log'> & { readonly slicer: TimeSlicer },
): Promise<LogBackend> {
  const log = parent.child({ store });
  if (store === 'opensearch') {
    const { OpenSearchLogStore } = await import('./backends/opensearch/opensearch-log-store.ts');
    return new OpenSearchLogStore({ ...opensearch, admission, slicer });
  }
  if (store === 'victorialogs') {
    const { VictoriaLogsLogStore } = await import('./backends/victorialogs/victorialogs-log-store.ts');
    return new VictoriaLogsLogStore({ ...victorialogs, admission, slicer });
  }
  const { KubernetesLogStore } = await import('./backends/kubernetes/kubernetes-log-store.ts');
  return new KubernetesLogStore({ client, pods: () => copies.hold(PODS), admission, log, slicer });
}
