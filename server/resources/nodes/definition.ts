// Nodes: the first entry of the table of resources. Owns what is particular to them (facts, columns, fields); where
// they are kept is the cache's business, how they are served that of endpoints/rest.
import type { ResourceDefinition } from '../resource-definition.ts';
import { nodeColumns } from './columns.ts';
import { type NodeFacts, nodeFacts } from './facts.ts';

/** `group` is `resources.<platform>.io`. */
export function nodeDefinition(group: string): ResourceDefinition<NodeFacts> {
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
    facts: nodeFacts,
    fields: { 'spec.unschedulable': ({ facts }) => String(facts.unschedulable) },
    columns: nodeColumns,
  };
}
