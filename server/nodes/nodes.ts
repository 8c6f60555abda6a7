// Creates the informer of nodes, and the route of nodes in the aggregated API (`/apis`). lists/lists.ts creates the lists
// of nodes under `/kapis`.
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { newTimeout } from '../../apis/meta/v1/errors.ts';
import { groupName } from '../../apis/resources/v1alpha3/group-version.ts';
import type { CacheMetrics } from '../cache/cache-metrics.ts';
import { Informer, READ_WAIT_MS } from '../cache/informer.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { ResourceRoute } from '../request/resource-route.ts';
import { nodeDefinition } from '../resources/nodes/node-definition.ts';
import type { NodeFacts } from '../resources/nodes/node-facts.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import { DEFAULT_OPTIONS, resourceHandler } from '../rest/resource-handler.ts';
import { WatchMetrics } from '../rest/watch-metrics.ts';

export interface Nodes {
  readonly definition: ResourceDefinition<NodeFacts>;
  readonly informer: Informer<NodeFacts>;
  readonly route: ResourceRoute;
}

export interface NodesDependencies {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly cacheMetrics: CacheMetrics;
}

export function newNodes(
  { platform, cache }: Pick<CompletedConfig, 'platform' | 'cache'>,
  { client, log, metrics, cacheMetrics }: NodesDependencies,
): Nodes {
  const definition = nodeDefinition(groupName(platform.name));
  const { group, version, plural } = definition;
  const informer: Informer<NodeFacts> = new Informer({
    definition,
    client,
    log: log.child({ resource: plural }),
    observer: cacheMetrics.observe(`${plural}.${group}`, () => ({
      synced: informer.cache.synced,
      watchers: informer.cache.watchers,
      objects: informer.cache.synced ? informer.cache.snapshot().size : 0,
      bytes: informer.cache.synced ? informer.cache.snapshot().bytes() : 0,
      ageMs: informer.ageMs,
    })),
  });
  const current = async (signal: AbortSignal): Promise<void> => {
    if (await informer.proof.prove(READ_WAIT_MS, signal)) return;
    throw newTimeout('Timeout: the node cache has not reached the current resourceVersion', 1);
  };
  const handler = resourceHandler(definition, informer.cache, {
    ...DEFAULT_OPTIONS,
    current: cache.currentReads ? current : undefined,
    watch: {
      ...DEFAULT_OPTIONS.watch,
      observer: new WatchMetrics(metrics).observe(definition),
    },
  });
  return {
    definition,
    informer,
    route: { prefix: 'apis', group, version, resource: plural, handler },
  };
}
