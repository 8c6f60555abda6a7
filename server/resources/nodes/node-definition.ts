// The resource definition of nodes: table columns, selectable fields, and the values extracted from each node.

import { ageSince } from '../age.ts';
import type { Column, ResourceDefinition } from '../resource-definition.ts';
import { type NodeFacts, nodeFactsReader, statusWords } from './node-facts.ts';

/** Returns the definition. `group`: `resources.<platform>.io`. */
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
    facts: nodeFactsReader(group.slice(group.indexOf('.') + 1)),
    fields: { 'spec.unschedulable': ({ facts }) => String(facts.unschedulable) },
    columns: nodeColumns,
  };
}

type Cell = Column<NodeFacts>['cell'];

function column(name: string, priority: 0 | 1, description: string, cell: Cell): Column<NodeFacts> {
  return { name, type: 'string', format: name === 'Name' ? 'name' : '', description, priority, cell };
}

function kernel({ kernelVersion, architecture }: NodeFacts): string {
  const version = kernelVersion || '<unknown>';
  return architecture === '' ? version : `${version} (${architecture})`;
}

export const nodeColumns: readonly Column<NodeFacts>[] = [
  column('Name', 0, 'The name of the node, unique in the cluster.', (node) => node.name),
  column('Status', 0, 'Whether the node is ready, and whether it takes new pods.', ({ facts }) =>
    statusWords(facts).join(','),
  ),
  column(
    'Roles',
    0,
    'The roles in the labels of the node.',
    ({ facts }) => facts.roles.join(',') || '<none>',
  ),
  column('Age', 0, 'The time since the node was registered.', ({ facts }, now) =>
    ageSince(facts.createdAt, now),
  ),
  column('Version', 0, 'The version that the kubelet reports.', ({ facts }) => facts.kubeletVersion),
  column(
    'Internal-IP',
    1,
    'The first internal address of the node.',
    ({ facts }) => facts.internalIP ?? '<none>',
  ),
  column(
    'External-IP',
    1,
    'The first external address of the node.',
    ({ facts }) => facts.externalIP ?? '<none>',
  ),
  column(
    'OS-Image',
    1,
    'The operating system that the node reports.',
    ({ facts }) => facts.osImage || '<unknown>',
  ),
  column('Kernel-Version', 1, 'The kernel that the node reports, with its architecture.', ({ facts }) =>
    kernel(facts),
  ),
  column(
    'Container-Runtime',
    1,
    'The container runtime that the node reports, with its version.',
    ({ facts }) => facts.containerRuntime || '<unknown>',
  ),
];
