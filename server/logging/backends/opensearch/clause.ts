// Clauses of the query DSL that OpenSearch and Elasticsearch share.
import { BEGINNING, earlier, LAST_NANOSECOND, later } from '../../instant.ts';
import type { Instant } from '../../log-store.ts';

/** One clause of a query: an object whose only key is the type of the clause. */
export type Clause = Readonly<Record<string, unknown>>;

export const MATCH_NONE: Clause = { match_none: {} };

/** `index.max_regex_length` by default. */
export const MAX_REGEX_LENGTH = 1_000;

export function anyOf(clauses: readonly Clause[]): Clause {
  const [only] = clauses;
  if (!only) return MATCH_NONE;
  return clauses.length === 1 ? only : { bool: { should: clauses, minimum_should_match: 1 } };
}

export function allOf(clauses: readonly Clause[]): Clause {
  const [only] = clauses;
  if (!only) return { match_all: {} };
  return clauses.length === 1 ? only : { bool: { filter: clauses } };
}

export interface RegexpOptions {
  /** Ignores the case of ASCII letters; Lucene 10 ignores that of other letters, too. */
  readonly ignoreCase?: boolean;
  /** `max_determinized_states`, 10,000 by default. Higher only for patterns that callers cannot shape. */
  readonly maxStates?: number;
}

/** A regular expression that matches the whole value, without Lucene's optional operators. */
export function regexp(
  field: string,
  value: string,
  { ignoreCase = false, maxStates }: RegexpOptions = {},
): Clause {
  return {
    regexp: {
      [field]: {
        value,
        flags: 'NONE',
        ...(ignoreCase ? { case_insensitive: true } : {}),
        ...(maxStates === undefined ? {} : { max_determinized_states: maxStates }),
      },
    },
  };
}

/** The text as a part of the value. */
export function wildcard(field: string, text: string, ignoreCase: boolean): Clause {
  const value = `*${text.replace(/[*?\\]/g, '\\$&')}*`;
  return { wildcard: { [field]: { value, ...(ignoreCase ? { case_insensitive: true } : {}) } } };
}

/** `from <= time < before`, in the precision of the field. */
export function timeRange(
  field: string,
  { from, before }: { readonly from?: Instant; readonly before?: Instant },
): Clause {
  return {
    range: {
      [field]: {
        ...(from === undefined ? {} : { gte: storable(from) }),
        ...(before === undefined ? {} : { lt: storable(before) }),
        format: 'strict_date_optional_time_nanos',
      },
    },
  };
}

/** `date_nanos` rejects bounds outside of 64 bits. */
function storable(instant: Instant): Instant {
  return earlier(later(instant, BEGINNING), LAST_NANOSECOND);
}
