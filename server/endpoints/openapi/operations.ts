// The operations of a resource, as both generations of OpenAPI describe them.
import type { GroupVersionKind, Schemas } from './schemas.ts';

export interface DescribedResource extends GroupVersionKind {
  readonly listKind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

export interface Operation {
  readonly path: string;
  readonly id: string;
  readonly description: string;
  readonly action: 'get' | 'list';
  readonly kind: GroupVersionKind;
  readonly schema: string;
  readonly parameters: readonly Parameter[];
}

/** What is no resource with objects, and described by itself. */
export interface DescribedGroup {
  readonly group: string;
  readonly version: string;
  readonly operations: readonly Operation[];
  readonly schemas: Schemas;
}

function query(name: string, type: Parameter['type'], description: string): Parameter {
  return { name, in: 'query', type, description };
}

const RESOURCE_VERSION = query(
  'resourceVersion',
  'string',
  'The answer is at least as new as this version; without it, or with 0, as new as what the server has.',
);
const PRETTY = query('pretty', 'string', 'If true, the answer is indented.');

const LIST_PARAMETERS: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'Whether a watch may contain BOOKMARK events.'),
  query('continue', 'string', 'Where the next page begins, from the list before; expires with its snapshot.'),
  query('fieldSelector', 'string', 'Only objects whose fields match.'),
  query('labelSelector', 'string', 'Only objects whose labels match.'),
  query('limit', 'integer', 'The greatest number of objects of a page; all of them without it.'),
  RESOURCE_VERSION,
  query('resourceVersionMatch', 'string', 'Exact or NotOlderThan: how resourceVersion is to be taken.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch begins with all objects that are there.'),
  query('timeoutSeconds', 'integer', 'How long a watch lasts.'),
  query('watch', 'boolean', 'A stream of changes instead of a list.'),
];

/** The name of a kind's schema: its group backwards, its version and itself, as Kubernetes names them. */
export function schemaName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

function pathParameter(name: string, description: string): Parameter {
  return { name, in: 'path', type: 'string', description };
}

export function operationsOf(resource: DescribedResource): Operation[] {
  const { group, version, kind, listKind, plural, namespaced } = resource;
  const gvk: GroupVersionKind = { group, version, kind };
  const base = `/apis/${group}/${version}`;
  const scope = namespaced ? 'Namespaced' : '';
  const prefix = namespaced ? `${base}/namespaces/{namespace}` : base;
  const namespace = namespaced ? [pathParameter('namespace', 'The namespace of the object.')] : [];
  const list: Omit<Operation, 'path' | 'id' | 'parameters'> = {
    description: `list or watch objects of kind ${kind}`,
    action: 'list',
    kind: gvk,
    schema: schemaName({ group, version, kind: listKind }),
  };
  const listParameters = [...LIST_PARAMETERS, PRETTY];
  const operations: Operation[] = [
    {
      ...list,
      path: `${prefix}/${plural}`,
      id: `list${scope}${kind}`,
      parameters: [...namespace, ...listParameters],
    },
    {
      path: `${prefix}/${plural}/{name}`,
      id: `read${scope}${kind}`,
      description: `read the specified ${kind}`,
      action: 'get',
      kind: gvk,
      schema: schemaName(gvk),
      parameters: [...namespace, pathParameter('name', `The name of the ${kind}.`), RESOURCE_VERSION, PRETTY],
    },
  ];
  if (namespaced) {
    operations.push({
      ...list,
      path: `${base}/${plural}`,
      id: `list${kind}ForAllNamespaces`,
      parameters: listParameters,
    });
  }
  return operations;
}
