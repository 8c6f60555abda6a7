// The query DSL, as far as we write it.

/** One clause of a query: an object with one key, its kind. */
export type Clause = Readonly<Record<string, unknown>>;

/** Nothing, whatever the documents are. */
export const NOTHING: Clause = { match_none: {} };

/** One of them holds. */
export function anyOf(clauses: readonly Clause[]): Clause {
  const [only] = clauses;
  if (!only) return NOTHING;
  return clauses.length === 1 ? only : { bool: { should: clauses, minimum_should_match: 1 } };
}

/** All of them hold. */
export function allOf(clauses: readonly Clause[]): Clause {
  const [only] = clauses;
  if (!only) return { match_all: {} };
  return clauses.length === 1 ? only : { bool: { filter: clauses } };
}

export interface RegexpOptions {
  /** Of ASCII letters. */
  readonly ignoreCase?: boolean;
  /** For patterns of our own making: they may cost more than callers' patterns, which get 10,000. */
  readonly work?: number;
}

/** A regular expression over the whole value; nothing but what every engine knows. */
export function regexp(
  field: string,
  value: string,
  { ignoreCase = false, work }: RegexpOptions = {},
): Clause {
  return {
    regexp: {
      [field]: {
        value,
        flags: 'NONE',
        ...(ignoreCase ? { case_insensitive: true } : {}),
        ...(work === undefined ? {} : { max_determinized_states: work }),
      },
    },
  };
}

/** A text somewhere in the value. */
export function wildcard(field: string, text: string, ignoreCase: boolean): Clause {
  const value = `*${text.replace(/[*?\\]/g, '\\$&')}*`;
  return { wildcard: { [field]: { value, ...(ignoreCase ? { case_insensitive: true } : {}) } } };
}

/** Indices may be told to take no longer patterns; this is what they take when nobody told them. */
export const MAX_REGEX_LENGTH = 1_000;
