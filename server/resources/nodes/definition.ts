// Nodes: the first entry of the table of resources. Owns what is particular to them (facts, columns, fields); cache/
// stores them, endpoints/rest serves them.
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
