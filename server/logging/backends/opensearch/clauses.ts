// Builders of query DSL clauses for names, workloads and text. The clauses work in OpenSearch and Elasticsearch.

import { podNameForms } from '../../matching/workload-names.ts';
import { BEGINNING, earlier, LAST_NANOSECOND, later } from '../../store/instant.ts';
import type { Instant, NameFilter, TextFilter } from '../../store/log-store.ts';
import { newNotSupported } from '../../store/store-errors.ts';
import { STORE } from './error-response.ts';
import type { Layout } from './layout.ts';
import { literal, literalSomewhere } from './lucene-pattern.ts';

/** One clause of a query: an object whose only key is the type of the clause. */
export type Clause = Readonly<Record<string, unknown>>;

const MATCH_NONE: Clause = { match_none: {} };

/** Default of `index.max_regex_length`, in characters. */
const MAX_REGEX_LENGTH = 1_000;

/** `max_determinized_states` for a thousand characters of names, which need more than the default. */
const NAME_STATES = 100_000;
/** Maximum characters of name parts in a query, because each shard compiles an automaton from them. */
const MAX_CONTAINS_LENGTH = 8_000;
/** Substrings that cannot cross the boundary of a word. */
const WITHIN_A_WORD = /^(?=.*[0-9A-Za-z])[0-9A-Za-z_]{1,200}$/;
/** Text that the analyser treats as one word. */
const SINGLE_WORD = /^[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{N}_]+$/u;
/** `max_expansions`: the default of 50 would miss lines. */
const UNLIMITED_EXPANSIONS = 2_147_483_647;
/** `max_determinized_states` for a literal of a thousand characters, which needs more than the default. */
const LITERAL_STATES = 200_000;

/** Clauses of a name filter; all have to match. `base`: name of the field in documents. Throws NotSupported. */
export function nameClauses({ exact, contains }: NameFilter, field: string, base: string): Clause[] {
  return [
    ...(contains ? [containsClause(contains, field, base)] : []),
    ...(exact
      ? [exact.includes('') ? anyOf([exactClause(exact, field), isAbsent(base)]) : exactClause(exact, field)]
      : []),
  ];
}

/** A list of names becomes one clause, because a query can have at most 1,024 clauses by default. */
export function exactClause(names: readonly string[], field: string): Clause {
  const [only] = names;
  if (only === undefined) return MATCH_NONE;
  return names.length === 1 ? { term: { [field]: only } } : { terms: { [field]: names } };
}

/** A record without the field has the empty name. */
function isAbsent(field: string): Clause {
  return { bool: { must_not: { exists: { field } } } };
}

function containsClause(texts: readonly string[], field: string, base: string): Clause {
  if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_CONTAINS_LENGTH) {
    const message = `parts of names can have ${MAX_CONTAINS_LENGTH} characters in total; use fewer or shorter ones for \`${base}\``;
    throw newNotSupported(STORE, 'namespace_query', message);
  }
  // Lucene 10 treats ı and İ as i. Names of Kubernetes objects are ASCII, so a text with these matches no name.
  const sought = texts.filter((text) => !/[\u0130\u0131]/.test(text));
  return anyOf(
    joined(
      sought.map((text) => literal(text)),
      '.*(',
      ').*',
    ).map((pattern) => regexp(field, pattern, { ignoreCase: true, maxStates: NAME_STATES })),
  );
}

/** Clause for the names of the pods of workloads. */
export function workloadClause(workloads: NameFilter, field: string): Clause {
  return allOf(
    podNameForms(workloads).map((forms) => {
      // Grouped by prefix and suffix, which most pod names have in common.
      const groups = Map.groupBy(forms, ({ before, behind }) => `${before}\n${behind}`);
      const patterns = [...groups.values()].flatMap((group) => {
        const [before = '', behind = ''] = [group[0]?.before, group[0]?.behind].map(inLucene);
        return joined(
          group.map(({ text }) => literal(text)),
          `${before}(`,
          `)(${behind})`,
        );
      });
      return anyOf(patterns.map((pattern) => regexp(field, pattern, { maxStates: NAME_STATES })));
    }),
  );
}

/** Escapes a `-` at the end of a character class, which Lucene would parse as a range. */
function inLucene(pattern = ''): string {
  return pattern.replaceAll('-]', '\\-]');
}

/** Joins alternatives into as few patterns as possible; a pattern has at most MAX_REGEX_LENGTH characters. */
function joined(alternatives: readonly string[], before: string, behind: string): string[] {
  const room = MAX_REGEX_LENGTH - before.length - behind.length;
  const groups: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const alternative of alternatives) {
    if (length + alternative.length + 1 > room) {
      groups.push([]);
      length = 0;
    }
    groups.at(-1)?.push(alternative);
    length += alternative.length + 1;
  }
  return groups.map((group) => `${before}${group.join('|')}${behind}`);
}

/**
 * Clause of a text filter. `message`: the analysed field. Throws NotSupported if the layout lacks the required field.
 */
export function textClause(filter: TextFilter, layout: Layout, message: string): Clause {
  return anyOf(filter.texts.map((text) => clauseOf(text, filter, layout, message)));
}

/** The field of type `wildcard`. Throws NotSupported if the layout has none. */
export function wholeLineField({ wholeLine }: Layout, parameter: string, message: string): string {
  if (wholeLine !== undefined) return wholeLine;
  const problem = `its indices support searches for words only; add a subfield of type wildcard to \`${message}\`, see docs/log-stores.md`;
  throw newNotSupported(STORE, parameter, problem);
}

function clauseOf(
  text: string,
  { mode, caseSensitive }: TextFilter,
  layout: Layout,
  message: string,
): Clause {
  switch (mode) {
    case 'regex': {
      const field = wholeLineField(layout, 'match', message);
      return regexp(field, withinLimit(`.*(${text}).*`), { ignoreCase: !caseSensitive });
    }
    case 'substring': {
      if (!caseSensitive && WITHIN_A_WORD.test(text)) return wildcard(message, text.toLowerCase(), false);
      const { value, ignoreCase } = literalSomewhere(text, caseSensitive);
      const field = wholeLineField(layout, caseSensitive ? 'case' : 'match', message);
      return regexp(field, withinLimit(value), { ignoreCase, maxStates: LITERAL_STATES });
    }
    default:
      if (caseSensitive && text.toLowerCase() !== text.toUpperCase()) {
        const problem = 'its searches for words ignore case; use `match=substring` with `case=respect`';
        throw newNotSupported(STORE, 'case', problem);
      }
      if (mode === 'phrase') return { match_phrase: { [message]: { query: text } } };
      // With one word, match_phrase_prefix would create one clause for each expansion.
      return SINGLE_WORD.test(text)
        ? { match_bool_prefix: { [message]: { query: text } } }
        : { match_phrase_prefix: { [message]: { query: text, max_expansions: UNLIMITED_EXPANSIONS } } };
  }
}

function withinLimit(pattern: string): string {
  if (pattern.length <= MAX_REGEX_LENGTH) return pattern;
  throw newNotSupported(STORE, 'log_query', 'the pattern is too long; use a shorter one');
}

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

interface RegexpOptions {
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
