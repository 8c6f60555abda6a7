// The table columns of nodes, as kubectl prints them, with the architecture in addition to the kernel.
import { ageSince } from '../age.ts';
import type { ListColumn } from '../list-columns.ts';
import type { Column } from '../resource-definition.ts';
import type { KindFacts } from './kind-values.ts';
import { type NodeFacts, nodeFacts, statusWords } from './node-facts.ts';

const NO_NODE = nodeFacts({});

/** Returns the facts that only nodes have. */
export function nodeIn({ features }: Pick<KindFacts, 'features'>): NodeFacts {
  return features?.node ?? NO_NODE;
}

function column(
  name: string,
  priority: 0 | 1,
  description: string,
  cell: (facts: NodeFacts) => string,
): Column<KindFacts> {
  return {
    name,
    type: 'string',
    format: '',
    description,
    priority,
    cell: ({ facts }) => cell(nodeIn(facts)),
  };
}

function kernel({ kernelVersion, architecture }: NodeFacts): string {
  const version = kernelVersion || '<unknown>';
  return architecture === '' ? version : `${version} (${architecture})`;
}

export const nodeColumns: readonly Column<KindFacts>[] = [
  {
    name: 'Name',
    type: 'string',
    format: 'name',
    priority: 0,
    description: 'The name of the node, unique in the cluster.',
    cell: ({ name }) => name,
  },
  column('Status', 0, 'Whether the node is ready, and whether it takes new pods.', (node) =>
    statusWords(node).join(','),
  ),
  column('Roles', 0, 'The roles in the labels of the node.', ({ roles }) => roles.join(',') || '<none>'),
  {
    name: 'Age',
    type: 'string',
    format: '',
    priority: 0,
    description: 'The time since the node was registered.',
    cell: ({ facts }, now) => ageSince(facts.createdAt, now),
  },
  column('Version', 0, 'The version that the kubelet reports.', ({ kubeletVersion }) => kubeletVersion),
  column(
    'Internal-IP',
    1,
    'The first internal address of the node.',
    ({ internalIP }) => internalIP ?? '<none>',
  ),
  column(
    'External-IP',
    1,
    'The first external address of the node.',
    ({ externalIP }) => externalIP ?? '<none>',
  ),
  column(
    'OS-Image',
    1,
    'The operating system that the node reports.',
    ({ osImage }) => osImage || '<unknown>',
  ),
  column('Kernel-Version', 1, 'The kernel that the node reports, with its architecture.', kernel),
  column(
    'Container-Runtime',
    1,
    'The container runtime that the node reports, with its version.',
    ({ containerRuntime }) => containerRuntime || '<unknown>',
  ),
];

/** The names of columns that the lists of every kind have. */
const COMMON: ReadonlySet<string> = new Set(['Name', 'Status', 'Age']);
const SORT_KEYS: Readonly<Record<string, string>> = { Roles: 'role', Version: 'kubeletVersion' };
/** Texts for no value. */
const PLACEHOLDERS: ReadonlySet<unknown> = new Set(['', '<none>', '<unknown>']);
const EPOCH = new Date(0);

function amount(
  name: string,
  type: 'integer' | 'number',
  format: string,
  description: string,
  sortKey: 'cpu' | 'memory' | 'pods',
): ListColumn<KindFacts> {
  return {
    name,
    type,
    format,
    description,
    priority: 0,
    sortKey,
    value: ({ facts }) => {
      const nanos = nodeIn(facts).allocatable[sortKey];
      return nanos < 0n ? null : Number(nanos) / 1e9;
    },
  };
}

/** The columns of lists of nodes: those of kubectl, and the allocatable amounts. */
export const nodeListColumns: readonly ListColumn<KindFacts>[] = [
  amount('CPU', 'number', '', 'The allocatable CPUs.', 'cpu'),
  amount('Memory', 'integer', 'bytes', 'The allocatable memory, in bytes.', 'memory'),
  amount('Pods', 'integer', '', 'The maximum number of pods.', 'pods'),
  ...nodeColumns
    .filter(({ name }) => !COMMON.has(name))
    .map(
      (printed): ListColumn<KindFacts> => ({
        ...printed,
        sortKey: SORT_KEYS[printed.name],
        value: (node) => {
          // These columns do not depend on the time.
          const text = printed.cell(node, EPOCH);
          return PLACEHOLDERS.has(text) ? null : text;
        },
      }),
    ),
];
