// How one operation is described before it becomes OpenAPI: what differs between operations, and nothing else.
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
  readonly answers: Readonly<Record<number, Answer>>;
  /** Ways to prove who one is, by name, each enough by itself; none for what anybody may ask. */
  readonly security: readonly (readonly string[])[];
}

export interface Body {
  readonly type: string;
  /** A member of `components.schemas`. */
  readonly schema: string;
  readonly required: boolean;
}

export interface Answer {
  readonly description: string;
  /** None: the answer is empty. */
  readonly type?: string;
  /** A member of `components.schemas`; text without. */
  readonly schema?: string;
  /** What else it may come as, as text. */
  readonly furtherTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
}

/** Answers in the given words with the same kind of body. */
export function errors<Code extends number>(
  words: Readonly<Record<Code, string>>,
  schema: string,
): Record<Code, Answer> {
  const answers = Object.entries<string>(words).map(([code, description]): [string, Answer] => [
    code,
    { description, type: 'application/json', schema },
  ]);
  return Object.fromEntries(answers) as Record<Code, Answer>;
}
