// Builder of the OpenAPI v3 document of one API group and version.
import type { Operation, Parameter } from './operations.ts';
import { REF_PREFIX, type Schemas } from './schemas.ts';

function parameter({ name, in: place, type, description }: Parameter): object {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}

function operation(one: Operation, tag: string): object {
  const content = { schema: { $ref: REF_PREFIX + one.schema } };
  return {
    get: {
      tags: [tag],
      description: one.description,
      operationId: one.id,
      parameters: one.parameters.map(parameter),
      responses: {
        200: {
          description: 'OK',
          content: {
            'application/json': content,
            ...(one.action === 'list' ? { 'application/json;stream=watch': content } : {}),
          },
        },
      },
      'x-kubernetes-action': one.action,
      'x-kubernetes-group-version-kind': one.kind,
    },
  };
}

export interface DocumentParts {
  readonly title: string;
  readonly version: string;
  readonly operations: readonly Operation[];
  readonly schemas: Schemas;
}

export function v3Document({ title, version, operations, schemas }: DocumentParts): object {
  const paths: Record<string, object> = {};
  for (const one of operations) {
    paths[one.path] = operation(one, `${one.kind.group}/${one.kind.version}`);
  }
  return {
    openapi: '3.0.0',
    info: { title, version },
    paths,
    components: { schemas: Object.fromEntries(schemas) },
  };
}
