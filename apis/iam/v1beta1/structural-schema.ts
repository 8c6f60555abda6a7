// Converts JSON Schemas to structural schemas of CustomResourceDefinitions. A `pattern` becomes a CEL rule, and
// `uniqueItems` becomes `x-kubernetes-list-type: set`.
import type { CustomResource } from './custom-resource.ts';

/** `openAPIV3Schema` of a CustomResourceDefinition. */
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

/** Keywords that are the same in a structural schema. */
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

/** Throws for a keyword without a conversion, so that no rule is dropped silently. */
function structural(schema: object): object {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEPT.has(keyword)) result[keyword] = value;
    else if (keyword === 'properties') result[keyword] = mapValues(value, structural);
    else if (keyword === 'items') result[keyword] = structural(value);
    else if (keyword === 'uniqueItems') result['x-kubernetes-list-type'] = 'set';
    else if (keyword === 'pattern') result['x-kubernetes-validations'] = [matches(value, schema)];
    // kube-apiserver prunes unknown fields, or rejects them with strict validation. `expects` belongs to `pattern`.
    else if (keyword !== 'additionalProperties' && keyword !== 'expects')
      throw new Error(`no conversion of ${keyword} into a structural schema`);
  }
  if (result['type'] === 'integer') result['format'] = 'int64';
  return result;
}

function matches(pattern: unknown, schema: object): object {
  if (!('expects' in schema)) throw new Error(`the pattern ${String(pattern)} has no "expects"`);
  // CEL accepts all escapes of JSON.
  return { rule: `self.matches(${JSON.stringify(pattern)})`, message: `must be ${String(schema.expects)}` };
}

function mapValues(record: unknown, change: (schema: object) => object): object {
  return Object.fromEntries(
    Object.entries(record ?? {}).map(([name, schema]: [string, object]) => [name, change(schema)]),
  );
}
