// Structural schemas, in which the cluster validates custom resources. They are a subset of JSON Schema, so what they do
// not know is put in their own words here: rules about texts become CEL with a message, sets become list types.
import type { CustomResource } from './custom-resource.ts';

/** The schema of the whole object, as a CustomResourceDefinition writes it. */
export function structuralSchema({ description, spec, status, rules }: CustomResource): object {
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structural(spec),
      ...(status === undefined ? {} : { status: structural(status) }),
    },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  };
}

/** What a structural schema takes over as it is. */
const KEPT = new Set([
  'type',
  'description',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'required',
  'enum',
]);

/** Throws for a keyword that it has no translation for: a rule must not get lost on the way. */
function structural(schema: object): object {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEPT.has(keyword)) result[keyword] = value;
    else if (keyword === 'properties') result[keyword] = mapValues(value, structural);
    else if (keyword === 'items') result[keyword] = structural(value);
    else if (keyword === 'uniqueItems') result['x-kubernetes-list-type'] = 'set';
    else if (keyword === 'pattern') result['x-kubernetes-validations'] = [matches(value, schema)];
    // Unknown members are dropped there, or refused by strict validation; `expects` belongs to `pattern`.
    else if (keyword !== 'additionalProperties' && keyword !== 'expects')
      throw new Error(`no translation of ${keyword} into a structural schema`);
  }
  if (result['type'] === 'integer') result['format'] = 'int64';
  return result;
}

function matches(pattern: unknown, schema: object): object {
  if (!('expects' in schema)) throw new Error(`the pattern ${String(pattern)} says nothing in "expects"`);
  // JSON's escapes are a part of CEL's.
  return { rule: `self.matches(${JSON.stringify(pattern)})`, message: `must be ${String(schema.expects)}` };
}

function mapValues(record: unknown, change: (schema: object) => object): object {
  return Object.fromEntries(
    Object.entries(record ?? {}).map(([name, schema]: [string, object]) => [name, change(schema)]),
  );
}
