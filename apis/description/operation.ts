// The description of one operation, as the source of its OpenAPI.
import type { TObject, TSchema } from 'typebox';

export type Method = 'get' | 'head' | 'post' | 'put' | 'delete';

export interface Operation {
  readonly method: Method;
  /** With parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Members of the query, by their schema. */
  readonly query?: TObject;
  /** Parameters in braces, by their schema. */
  readonly segments?: Readonly<Record<string, TSchema>>;
  readonly headers?: Readonly<Record<string, TSchema>>;
  readonly body?: Body;
  /** By status. */
  readonly responses: Readonly<Record<number, OperationResponse>>;
  /** Alternative security schemes, by name; empty for public operations. */
  readonly security: readonly (readonly string[])[];
}

export interface Body {
  readonly type: string;
  /** A member of `components.schemas`. */
  readonly schema: string;
  readonly required: boolean;
}

export interface OperationResponse {
  readonly description: string;
  /** Without a type the response has no body. */
  readonly type?: string;
  /** A member of `components.schemas`; text without. */
  readonly schema?: string;
  /** Further media types, as text. */
  readonly furtherTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
}

/** Error responses with these descriptions and the same schema. */
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
