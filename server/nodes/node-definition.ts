// The resource definition of nodes in the aggregated API.

import type { PrintedProfile } from '../resources/profiles/kind-profiles.ts';
import type { KindFacts } from '../resources/profiles/kind-values.ts';
import { nodeColumns } from '../resources/profiles/node-columns.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';

/** Returns the definition. `group`: `resources.<platform>.io`. */
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
