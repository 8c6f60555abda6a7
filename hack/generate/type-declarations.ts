// Declarations of TypeScript for the schemas of an OpenAPI document, with the subset of JSON Schema that apis/ uses.

/** The members of a JSON Schema that have a type in TypeScript. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
}

/** The parts of an OpenAPI document that have types. */
export interface OpenAPI {
  readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Parameters that only bypass caches. */
const IGNORED = new Set(['_', 't']);

/** The types of these schemas, and of the queries of these paths, by their names. */
export function typeDeclarations(
  { paths, components }: OpenAPI,
  types: { readonly schemas: readonly string[]; readonly queries: Readonly<Record<string, string>> },
): string {
  const schemas = types.schemas.map((name) => {
    const schema = components.schemas[name];
    if (schema === undefined) throw new Error(`the document has no schema ${name}`);
    return declaration(name, schema);
  });
  const queries = Object.entries(types.queries).map(([name, path]) => {
    const parameters = paths[path]?.get?.parameters;
    if (parameters === undefined) throw new Error(`the document has no parameters of ${path}`);
    return declaration(name, queryOf(parameters), 'readonly ');
  });
  return [...schemas, ...queries].join('\n');
}

function queryOf(parameters: readonly Parameter[]): Schema {
  const used = parameters.filter((parameter) => parameter.in === 'query' && !IGNORED.has(parameter.name));
  const properties = used.map(({ name, schema, description = '' }) => [name, { ...schema, description }]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    description: 'Parameters of a query.',
  };
}

function declaration(name: string, schema: Schema, access = ''): string {
  const comment = commentOf(schema.description, '');
  return schema.properties === undefined
    ? `${comment}export type ${name} = ${typeOf(schema, access, '')};\n`
    : `${comment}export interface ${name} ${typeOf(schema, access, '')}\n`;
}

const SIMPLE_TYPES: Readonly<Record<string, string>> = {
  integer: 'number',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
  null: 'null',
  object: 'Record<string, unknown>',
};

function typeOf(schema: Schema, access: string, indent: string): string {
  const { $ref, anyOf, items, properties, additionalProperties, type } = schema;
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, access, indent)).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (items !== undefined) return arrayOf(schema, typeOf(items, access, indent), access);
  if (properties !== undefined && Object.keys(properties).length > 0) {
    return membersOf(schema, properties, access, indent);
  }
  if (typeof additionalProperties === 'object') {
    return `Record<string, ${typeOf(additionalProperties, access, indent)}>`;
  }
  const simple = SIMPLE_TYPES[type ?? ''];
  if (simple === undefined) throw new Error(`a schema without a type: ${JSON.stringify(schema)}`);
  return simple;
}

function arrayOf({ minItems, maxItems }: Schema, item: string, access: string): string {
  if (minItems !== undefined && minItems === maxItems) {
    return `${access}[${Array.from({ length: minItems }, () => item).join(', ')}]`;
  }
  return `${access}${/[ |]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`;
}

function membersOf(
  { required = [] }: Schema,
  properties: Readonly<Record<string, Schema>>,
  access: string,
  indent: string,
): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    const type = typeOf(schema, access, inner);
    // A caller may pass undefined for a parameter.
    const suffix = access === '' ? '' : ' | undefined';
    const comment = commentOf(schema.description, inner);
    return `${comment}${inner}${access}${name}${isRequired ? `: ${type}` : `?: ${type}${suffix}`};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function commentOf(description: string | undefined, indent: string): string {
  return description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '* /')} */\n`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : String(value);
}
