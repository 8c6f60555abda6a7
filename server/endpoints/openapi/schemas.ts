// Copies the schema of a kind from an OpenAPI v3 document, with the API group of this server.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';

export type Schema = Readonly<Record<string, unknown>>;
export type Schemas = ReadonlyMap<string, Schema>;

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export const REF_PREFIX = '#/components/schemas/';
const GVK = 'x-kubernetes-group-version-kind';

/** Returns a copy with every `$ref` renamed. */
function mapReferences(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((member) => mapReferences(member, rename));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]: [string, unknown]) => {
    const reference = key === '$ref' && typeof member === 'string' && member.startsWith(REF_PREFIX);
    return [key, reference ? rename(member.slice(REF_PREFIX.length)) : mapReferences(member, rename)];
  });
  return Object.fromEntries(entries);
}

function isOfKind(schema: unknown, { group, version, kind }: GroupVersionKind): boolean {
  return array(record(schema)[GVK])
    .map(record)
    .some((one) => text(one['group']) === group && one['version'] === version && one['kind'] === kind);
}

/** Removes the list of kinds from a schema, because shared schemas list the kinds of all groups of the cluster. */
function withoutKinds(schema: Schema): Schema {
  const { [GVK]: _, ...rest } = schema;
  return rest;
}

/**
 * Returns the schema of `source` and all schemas that it references, with `source` renamed to `name` and the kind
 * `target`. Undefined if the document does not contain the kind.
 */
export function extractKind(
  document: unknown,
  source: GroupVersionKind,
  target: GroupVersionKind,
  name: string,
): Schemas | undefined {
  const all = recordIn(recordIn(document, 'components'), 'schemas');
  const root = Object.keys(all).find((one) => isOfKind(all[one], source));
  if (root === undefined) return undefined;
  const found = new Map<string, Schema>();
  const wanted = [root];
  const rename = (referred: string): string => {
    if (!found.has(referred === root ? name : referred)) wanted.push(referred);
    return REF_PREFIX + (referred === root ? name : referred);
  };
  for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
    const as = next === root ? name : next;
    if (found.has(as) || !Object.hasOwn(all, next)) continue;
    const schema = withoutKinds(record(mapReferences(all[next], rename)));
    found.set(as, next === root ? { ...schema, [GVK]: [target] } : schema);
  }
  return found;
}

/** Returns a schema for a kind while the cluster's schema is unknown: an object with arbitrary fields. */
export function minimalKind(target: GroupVersionKind, name: string): Schemas {
  const schema = {
    type: 'object',
    description: `${target.kind} has no schema here yet: the OpenAPI document of the cluster has not been read.`,
    properties: {
      apiVersion: { type: 'string', description: 'The group and version that this object is written in.' },
      kind: { type: 'string', description: 'The kind of object that this is.' },
      metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
    'x-kubernetes-preserve-unknown-fields': true,
    [GVK]: [target],
  };
  return new Map([[name, schema]]);
}

/** Returns the schema of a list. Its metadata references ListMeta if the document contains ListMeta. */
export function listOf(target: GroupVersionKind, listKind: string, itemName: string, known: Schemas): Schema {
  const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';
  const metadata = known.has(listMeta)
    ? {
        allOf: [{ $ref: REF_PREFIX + listMeta }],
        description: 'The resourceVersion of the list and its continue token.',
      }
    : { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    type: 'object',
    description: `${listKind} is a list of ${target.kind} objects.`,
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: 'The group and version that this list is written in.' },
      kind: { type: 'string', description: 'The kind of list that this is.' },
      metadata,
      items: {
        type: 'array',
        description: 'The objects.',
        items: { allOf: [{ $ref: REF_PREFIX + itemName }] },
      },
    },
    [GVK]: [{ ...target, kind: listKind }],
  };
}
