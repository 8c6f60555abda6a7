// Builder of OpenAPI 3.1 documents from operations and JSON Schemas. The builder removes validation keywords that
// OpenAPI does not define.
import type { TObject, TSchema } from 'typebox';
import type { Body, Operation, OperationResponse } from './operation.ts';

interface DocumentParts {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description?: string;
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly operations: readonly Operation[];
  /** Schemas of `components.schemas`, by name. */
  readonly schemas: Readonly<Record<string, object>>;
  readonly securitySchemes: Readonly<Record<string, object>>;
}

export interface OpenAPIDocument {
  readonly openapi: '3.1.0';
  readonly info: DocumentParts['info'];
  readonly servers: readonly [{ readonly url: '/' }];
  readonly tags: DocumentParts['tags'];
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: object; readonly securitySchemes: object };
}

export function openAPIDocument(parts: DocumentParts): OpenAPIDocument {
  const { info, tags, operations, schemas, securitySchemes } = parts;
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {});
    item[operation.method] = operationObject(operation);
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags,
    paths,
    components: { schemas: plain(schemas), securitySchemes },
  };
}

function operationObject(operation: Operation): object {
  const { id, tag, summary, description, query, segments = {}, headers = {}, body, responses } = operation;
  const parameters = [
    ...Object.entries(segments).map(([name, schema]) => parameter(name, 'path', schema)),
    ...(query === undefined ? [] : queryParameters(query)),
    ...Object.entries(headers).map(([name, schema]) => parameter(name, 'header', schema)),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: operation.security.map((schemes) => Object.fromEntries(schemes.map((name) => [name, []]))),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, response]: [string, OperationResponse]) => [
        code,
        responseObject(response),
      ]),
    ),
  };
}

function requestBody({ type, furtherTypes = [], schema, required }: Body): object {
  const content = Object.fromEntries([type, ...furtherTypes].map((each) => [each, reference(schema)]));
  return { required, content };
}

function responseObject({
  description,
  type,
  schema,
  furtherTypes = [],
  headers,
}: OperationResponse): object {
  const head = headers === undefined ? { description } : { description, headers };
  if (type === undefined) return head;
  const text = { schema: { type: 'string' } };
  const content = schema === undefined ? text : reference(schema);
  const further = Object.fromEntries(furtherTypes.map((other) => [other, text]));
  return { ...head, content: { [type]: content, ...further } };
}

function reference(schema: string): object {
  return { schema: { $ref: `#/components/schemas/${schema}` } };
}

/**
 * Returns the query parameters. A parameter with a default is optional, although the schema lists it as required. An
 * optional parameter without a value is ignored.
 */
function queryParameters({ properties, required }: TObject): object[] {
  const needed: ReadonlySet<string> = new Set(required ?? []);
  return Object.entries(properties).map(([name, schema]: [string, TSchema]) => ({
    ...parameter(name, 'query', schema),
    ...(needed.has(name) && !('default' in schema)
      ? { required: true }
      : { required: false, ...(isText(schema) ? {} : { allowEmptyValue: true }) }),
    ...('type' in schema && schema.type === 'array' ? { style: 'form', explode: false } : {}),
  }));
}

/** Returns true if the empty text is a value of the schema. */
function isText(schema: TSchema): boolean {
  return !('enum' in schema) && 'type' in schema && (schema.type === 'string' || schema.type === 'array');
}

function parameter(name: string, place: 'path' | 'query' | 'header', schema: TSchema): object {
  const { description, ...rest }: Readonly<Record<string, unknown>> = { ...schema };
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(place === 'path' ? { required: true } : {}),
    schema: plain(rest),
  };
}

/** Removes the keyword `expects`, which only the validation of this server has. */
function plain(value: unknown): object {
  const text = JSON.stringify(value, (key, member: unknown) => (key === 'expects' ? undefined : member));
  return JSON.parse(text) as object;
}
