// Builders of query DSL clauses that are valid in both OpenSearch and Elasticsearch.
import { BEGINNING, earlier, LAST_NANOSECOND, later } from '../../instant.ts';
import type { Instant } from '../../log-store.ts';

/** One clause of a query: an object whose only key is the type of the clause. */
export type Clause = Readonly<Record<string, unknown>>;

export const MATCH_NONE: Clause = { match_none: {} };

/** Default of `index.max_regex_length`, in characters. */
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
  /** Case-insensitive for ASCII letters; Lucene 10 includes other letters. */
  readonly ignoreCase?: boolean;
  /** `max_determinized_states`; default: 10,000. Only for patterns that the server builds from literal text. */
  readonly maxStates?: number;
}

/** A `regexp` clause, which matches the whole value. Lucene's optional operators are disabled. */
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

/** A `wildcard` clause: the value contains the text. */
export function wildcard(field: string, text: string, ignoreCase: boolean): Clause {
  const value = `*${text.replace(/[*?\\]/g, '\\$&')}*`;
  return { wildcard: { [field]: { value, ...(ignoreCase ? { case_insensitive: true } : {}) } } };
}

/** A `range` clause: `from <= time < before`. */
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

/** Limits a bound to the range of `date_nanos`, which rejects times outside 64-bit nanoseconds. */
function storable(instant: Instant): Instant {
  return earlier(later(instant, BEGINNING), LAST_NANOSECOND);
}
