// Clauses for the filters of a selection: names in fields with whole values, words in the analysed field, patterns in the
// field with whole lines. Many names become few clauses, because a query has at most 1,024 of them by default.
import type { NameFilter, TextFilter } from '../../log-store.ts';
import { parsePattern } from '../../matching/regex-dialect.ts';
import { podNameForms } from '../../matching/workload-names.ts';
import { newNotSupported } from '../../store-errors.ts';
import { allOf, anyOf, type Clause, MATCH_NONE, MAX_REGEX_LENGTH, regexp, wildcard } from './clause.ts';
import { STORE } from './error-response.ts';
import type { Layout } from './layout.ts';
import { isLiteral, literal, literalSomewhere, somewhere } from './lucene-pattern.ts';

/** A thousand characters of names need more states than the default. */
const NAME_STATES = 100_000;
/** Characters of `contains`: the store compiles an automaton from them for each shard. */
const MAX_CONTAINS_LENGTH = 8_000;
/** A substring of this form is always within one word. */
const WITHIN_A_WORD = /^(?=.*[0-9A-Za-z])[0-9A-Za-z_]{1,200}$/;
/** One word to the analyser. */
const SINGLE_WORD = /^[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{N}_]+$/u;
/** The default of 50 expansions would miss lines. */
const UNLIMITED_EXPANSIONS = 2_147_483_647;
/** A literal of a thousand characters needs more states than the default. */
const LITERAL_STATES = 200_000;

/** Clauses that all have to match. `base`: the name of the field in documents. Throws NotSupported. */
export function nameClauses({ exact, contains }: NameFilter, field: string, base: string): Clause[] {
  return [
    ...(contains ? [containsClause(contains, field, base)] : []),
    ...(exact
      ? [exact.includes('') ? anyOf([exactClause(exact, field), isAbsent(base)]) : exactClause(exact, field)]
      : []),
  ];
}

export function exactClause(names: readonly string[], field: string): Clause {
  const [only] = names;
  if (only === undefined) return MATCH_NONE;
  return names.length === 1 ? { term: { [field]: only } } : { terms: { [field]: names } };
}

/** The empty name is the name in records without one. */
function isAbsent(field: string): Clause {
  return { bool: { must_not: { exists: { field } } } };
}

function containsClause(texts: readonly string[], field: string, base: string): Clause {
  if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_CONTAINS_LENGTH) {
    const cure = `parts of names may have ${MAX_CONTAINS_LENGTH} characters in all; use fewer or shorter ones for \`${base}\``;
    throw newNotSupported(STORE, 'namespace_query', cure);
  }
  // Lucene 10 takes ı and İ for i. Names of Kubernetes objects are ASCII, so these match none.
  const sought = texts.filter((text) => !/[\u0130\u0131]/.test(text));
  return anyOf(
    joined(
      sought.map((text) => literal(text)),
      '.*(',
      ').*',
    ).map((pattern) => regexp(field, pattern, { ignoreCase: true, maxStates: NAME_STATES })),
  );
}

/** Pods of the workloads. */
export function workloadClause(workloads: NameFilter, field: string): Clause {
  return allOf(
    podNameForms(workloads).map((forms) => {
      // The names differ, while what precedes and follows them is the same for most.
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

/** Lucene takes a `-` at the end of a set for a range. */
function inLucene(pattern = ''): string {
  return pattern.replaceAll('-]', '\\-]');
}

/** Patterns with as many alternatives as an index accepts in one. */
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

/** `message`: the analysed field. Throws NotSupported if the layout lacks the field that the mode needs. */
export function textClause(filter: TextFilter, layout: Layout, message: string): Clause {
  return anyOf(filter.texts.map((text) => clauseOf(text, filter, layout, message)));
}

/** The field with whole lines. Throws NotSupported if the layout has none. */
export function wholeLineField({ wholeLine }: Layout, parameter: string, message: string): string {
  if (wholeLine !== undefined) return wholeLine;
  const cure = `its indices have words only; add a subfield of type wildcard to \`${message}\`, see docs/log-store-opensearch.md`;
  throw newNotSupported(STORE, parameter, cure);
}

function clauseOf(
  text: string,
  { mode, caseSensitive }: TextFilter,
  layout: Layout,
  message: string,
): Clause {
  switch (mode) {
    case 'regex': {
      const pattern = parsePattern(text);
      const { value, ignoreCase } = somewhere(pattern, caseSensitive);
      const field = wholeLineField(layout, 'match', message);
      const states = isLiteral(pattern) ? { maxStates: LITERAL_STATES } : {};
      return regexp(field, withinLimit(value), { ignoreCase, ...states });
    }
    case 'substring': {
      if (!caseSensitive && WITHIN_A_WORD.test(text)) return wildcard(message, text.toLowerCase(), false);
      const { value, ignoreCase } = literalSomewhere(text, caseSensitive);
      const field = wholeLineField(layout, caseSensitive ? 'case' : 'match', message);
      return regexp(field, withinLimit(value), { ignoreCase, maxStates: LITERAL_STATES });
    }
    default:
      if (caseSensitive && text.toLowerCase() !== text.toUpperCase()) {
        const cure = 'its words have no case; use `match=substring` with `case=respect`';
        throw newNotSupported(STORE, 'case', cure);
      }
      if (mode === 'phrase') return { match_phrase: { [message]: { query: text } } };
      // A phrase of one word would become one clause for each expansion.
      return SINGLE_WORD.test(text)
        ? { match_bool_prefix: { [message]: { query: text } } }
        : { match_phrase_prefix: { [message]: { query: text, max_expansions: UNLIMITED_EXPANSIONS } } };
  }
}

function withinLimit(pattern: string): string {
  if (pattern.length <= MAX_REGEX_LENGTH) return pattern;
  throw newNotSupported(STORE, 'log_query', 'the pattern is too long; use a shorter one');
}
