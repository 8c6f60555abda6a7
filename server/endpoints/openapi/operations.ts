// Lists the operations of a resource, as input for the OpenAPI v2 and v3 documents.
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

/** An API group that is not generated from resource definitions, such as log queries. */
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
  'The response is at least as new as this version. Without it, or with 0, any version that the server has.',
);
const PRETTY = query('pretty', 'string', 'If true, the response is indented.');

const LIST_PARAMETERS: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'Whether a watch may contain BOOKMARK events.'),
  query('continue', 'string', 'The continue token of the previous page. It expires with its snapshot.'),
  query('fieldSelector', 'string', 'Only objects whose fields match.'),
  query('labelSelector', 'string', 'Only objects whose labels match.'),
  query('limit', 'integer', 'The maximum number of objects per page. Default: all.'),
  RESOURCE_VERSION,
  query('resourceVersionMatch', 'string', 'Exact or NotOlderThan: how resourceVersion is applied.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch starts with ADDED events for all existing objects.'),
  query('timeoutSeconds', 'integer', 'The timeout of a watch.'),
  query('watch', 'boolean', 'A stream of changes instead of a list.'),
];

/** Returns the schema name of a kind as in Kubernetes: the reversed group, the version and the kind. */
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
