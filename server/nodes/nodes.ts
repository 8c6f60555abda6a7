// Creates the route of nodes in the aggregated API (`/apis`). lists/lists.ts creates the lists of nodes under `/kapis`.
import type { Registry } from 'prom-client';
import { newTimeout } from '../../apis/meta/v1/errors.ts';
import { groupName } from '../../apis/resources/v1alpha3/group-version.ts';
import { READ_WAIT_MS } from '../cache/informer.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { ResourceRoute } from '../request/resource-route.ts';
import type { KindCopy } from '../resources/kinds/kind-copy.ts';
import type { PrintedProfile } from '../resources/profiles/kind-profiles.ts';
import type { KindFacts } from '../resources/profiles/kind-values.ts';
import { nodeColumns } from '../resources/profiles/node-columns.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import { DEFAULT_OPTIONS, resourceHandler } from '../rest/resource-handler.ts';
import { WatchMetrics } from '../rest/watch-metrics.ts';

export interface Nodes {
  readonly definition: ResourceDefinition<KindFacts>;
  readonly copy: KindCopy;
  readonly route: ResourceRoute;
}

/** `copy`: of the kind Node, with objects. */
export function newNodes(
  { platform, cache }: Pick<CompletedConfig, 'platform' | 'cache'>,
  { copy, metrics }: { readonly copy: KindCopy; readonly metrics: Registry },
): Nodes {
  const definition = nodeDefinition(groupName(platform.name), copy.profile);
  const { group, version, plural } = definition;
  const current = async (signal: AbortSignal): Promise<void> => {
    if (await copy.informer.proof.prove(READ_WAIT_MS, signal)) return;
    throw newTimeout('Timeout: the node cache has not reached the current resourceVersion', 1);
  };
  const handler = resourceHandler(definition, copy.cache, {
    ...DEFAULT_OPTIONS,
    current: cache.currentReads ? current : undefined,
    watch: {
      ...DEFAULT_OPTIONS.watch,
      observer: new WatchMetrics(metrics).observe(definition),
    },
  });
  return {
    definition,
    copy,
    route: { prefix: 'apis', group, version, resource: plural, handler },
  };
}

/** The resource definition of the aggregated API. `group`: `resources.<platform>.io`. */
export function nodeDefinition(
  group: string,
  { facts, fields }: Pick<PrintedProfile, 'facts' | 'fields'>,
): ResourceDefinition<KindFacts> {
  return {
    group,
    version: 'v1alpha3',
    kind: 'Node',
    listKind: 'NodeList',
    plural: 'nodes',
    singular: 'node',
    namespaced: false,
    verbs: ['get', 'list', 'watch'],
    source: { path: '/api/v1/nodes', apiVersion: 'v1', kind: 'Node' },
    bareItems: true,
    facts,
    fields,
    columns: nodeColumns,
  };
}
