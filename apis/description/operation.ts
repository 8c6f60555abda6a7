// Types for the description of an API operation: one method of one path. The OpenAPI documents are generated from the
// descriptions.
import type { TObject, TSchema } from 'typebox';

type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';

export interface Operation {
  readonly method: Method;
  /** Path with parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Schema of the query parameters. */
  readonly query?: TObject;
  /** Schemas of the path parameters, by name. */
  readonly segments?: Readonly<Record<string, TSchema>>;
  readonly headers?: Readonly<Record<string, TSchema>>;
  readonly body?: Body;
  /** Responses, by HTTP status; `default` for all others. */
  readonly responses:
    | Readonly<Record<number | 'default', OperationResponse>>
    | Readonly<Record<number, OperationResponse>>;
  /** Alternative security schemes, by name; empty for public operations. */
  readonly security: readonly (readonly string[])[];
}

export interface Body {
  readonly type: string;
  /** Further media types with the same schema. */
  readonly furtherTypes?: readonly string[];
  /** Name of the schema in `components.schemas`. */
  readonly schema: string;
  readonly required: boolean;
}

export interface OperationResponse {
  readonly description: string;
  /** Media type; undefined for a response without a body. */
  readonly type?: string;
  /** Name of the schema in `components.schemas`; undefined for text. */
  readonly schema?: string;
  /** Further media types, whose bodies are text. */
  readonly furtherTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
}

/** Returns error responses with these descriptions, by HTTP status. All have the same schema. */
export function errors<Code extends number>(
  descriptions: Readonly<Record<Code, string>>,
  schema: string,
): Record<Code, OperationResponse> {
  const responses = Object.entries<string>(descriptions).map(
    ([code, description]): [string, OperationResponse] => [
      code,
      { description, type: 'application/json', schema },
    ],
  );
  return Object.fromEntries(responses) as Record<Code, OperationResponse>;
}
