// Nodes, put together: what they are, the informer that follows them, and the route that serves them.
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { groupName } from '../apis/resources/v1alpha3/group-version.ts';
import { Informer } from './cache/informer.ts';
import type { ClusterClient } from './cluster/client.ts';
import type { CompletedConfig } from './config.ts';
import { DEFAULT_OPTIONS, resourceHandler } from './endpoints/rest/resource-handler.ts';
import { CacheMetrics } from './observability/cache-metrics.ts';
import { WatchMetrics } from './observability/watch-metrics.ts';
import { nodeDefinition } from './resources/nodes/definition.ts';
import type { NodeFacts } from './resources/nodes/facts.ts';
import type { ResourceDefinition } from './resources/resource-definition.ts';
import type { ResourceRoute } from './routes.ts';

export interface Nodes {
  readonly definition: ResourceDefinition<NodeFacts>;
  readonly informer: Informer<NodeFacts>;
  readonly routes: readonly ResourceRoute[];
}

export interface NodesSurroundings {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly metrics: Registry;
}

export function newNodes(
  { platform, cache, watch }: Pick<CompletedConfig, 'platform' | 'cache' | 'watch'>,
  { client, log, metrics }: NodesSurroundings,
): Nodes {
  const definition = nodeDefinition(groupName(platform.name));
  const { group, version, plural } = definition;
  const { watchWindow, snapshots } = cache;
  const informer: Informer<NodeFacts> = new Informer({
    definition,
    client,
    log: log.child({ resource: plural }),
    window: { events: watchWindow.events, ageMs: watchWindow.age, bytes: watchWindow.bytes },
    waitMs: cache.readTimeout,
    history: { snapshots: snapshots.count, ageMs: snapshots.age, bytes: snapshots.bytes },
    observer: new CacheMetrics(metrics).observe(`${plural}.${group}`, () => ({
      synced: informer.cache.synced,
      watchers: informer.cache.watchers,
      size: informer.cache.synced ? informer.cache.snapshot().size : 0,
    })),
  });
  const handler = resourceHandler(definition, informer.cache, {
    ...DEFAULT_OPTIONS,
    watch: {
      ...DEFAULT_OPTIONS.watch,
      bookmarkIntervalMs: watch.bookmarkInterval,
      minTimeoutSeconds: watch.minTimeout / 1000,
      maxPendingBytes: watch.pendingBytes,
      stallTimeoutMs: watch.stallTimeout,
      observer: new WatchMetrics(metrics).observe(definition),
    },
  });
  return { definition, informer, routes: [{ prefix: 'apis', group, version, resource: plural, handler }] };
}
