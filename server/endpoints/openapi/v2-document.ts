// Builder of the OpenAPI v2 document of all API groups. kube-apiserver merges the document into its own OpenAPI v2
// document.
import { record } from '../../../apis/reading/unknown-value.ts';
import type { Operation, Parameter } from './operations.ts';
import { REF_PREFIX, type Schemas } from './schemas.ts';
import type { DocumentParts } from './v3-document.ts';

const DEFINITIONS = '#/definitions/';
/** Keywords of v3 that v2 does not have or defines differently; they are removed. */
const V3_ONLY = new Set(['oneOf', 'anyOf', 'not', 'nullable', 'allOf', 'default', '$ref', 'example']);

/**
 * Returns the reference in an `allOf`, if any. In v3 a reference with a description needs `allOf`; in v2 both are
 * fields of the same schema.
 */
function reference(schema: Readonly<Record<string, unknown>>): string | undefined {
  const [wrapped] = Array.isArray(schema['allOf']) ? schema['allOf'] : [];
  const name = schema['$ref'] ?? record(wrapped)['$ref'];
  return typeof name === 'string' ? name.replace(REF_PREFIX, DEFINITIONS) : undefined;
}

function downgrade(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const schema = record(value);
  const $ref = reference(schema);
  const rest: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(schema)) {
    if (V3_ONLY.has(key)) continue;
    if (key === 'properties') {
      rest[key] = Object.fromEntries(
        Object.entries(record(member)).map(([name, property]) => [name, downgrade(property)]),
      );
    } else rest[key] = key === 'items' || key === 'additionalProperties' ? downgrade(member) : member;
  }
  if (schema['format'] === 'int-or-string') rest['type'] = 'string';
  return $ref === undefined ? rest : { ...rest, $ref };
}

function definitions(schemas: Schemas): object {
  return Object.fromEntries([...schemas].map(([name, schema]) => [name, downgrade(schema)]));
}

function parameter({ name, in: place, type, description }: Parameter): object {
  return {
    name,
    in: place,
    type,
    description,
    uniqueItems: true,
    ...(place === 'path' ? { required: true } : {}),
  };
}

function operation(one: Operation, tag: string): object {
  return {
    get: {
      description: one.description,
      consumes: ['*/*'],
      produces: ['application/json', ...(one.action === 'list' ? ['application/json;stream=watch'] : [])],
      schemes: ['https'],
      tags: [tag],
      operationId: one.id,
      parameters: one.parameters.map(parameter),
      responses: { 200: { description: 'OK', schema: { $ref: DEFINITIONS + one.schema } } },
      'x-kubernetes-action': one.action,
      'x-kubernetes-group-version-kind': one.kind,
    },
  };
}

export function v2Document({ title, version, operations, schemas }: DocumentParts): object {
  const paths: Record<string, object> = {};
  for (const one of operations) {
    paths[one.path] = operation(one, `${one.kind.group}_${one.kind.version}`);
  }
  return { swagger: '2.0', info: { title, version }, paths, definitions: definitions(schemas) };
}
