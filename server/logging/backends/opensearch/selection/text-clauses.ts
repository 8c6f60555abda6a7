// What a line has to say, as clauses. Whole words are looked up in the analysed field; everything else needs a field
// that holds lines as they are, of type wildcard.
import { wordsOf } from '../../../../../apis/logging/v1alpha2/text-search.ts';
import type { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import type { TextFilter } from '../../../log-store.ts';
import { parsePattern } from '../../../matching/regex-dialect.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { STORE } from '../connection/store-name.ts';
import { type FieldCoverage, type FieldMap, overFields } from '../fields/field-map.ts';
import {
  allOf,
  anyOf,
  type Clause,
  MAX_REGEX_LENGTH,
  NOTHING,
  regexp,
  wildcard,
} from '../searches/clause.ts';
import { casedPhrase } from './cased-phrase.ts';
import { isLiteral, literalSomewhere, somewhere } from './lucene-pattern.ts';

export interface TextClause {
  readonly clause: Clause;
  /** Whether it is put to the analysed field, which fails where that is of another type. */
  readonly byWords: boolean;
  /** The fields it was put to beside the analysed one. */
  readonly wildcard?: FieldCoverage;
}

/** Throws NotSupported when the indices have no field for it. */
export function textClause(filter: TextFilter, fields: FieldMap): TextClause {
  const clauses = filter.texts.map((text) => oneText(text, filter, fields));
  const used = clauses.find((clause) => clause.wildcard !== undefined)?.wildcard;
  return {
    clause: anyOf(clauses.map(({ clause }) => clause)),
    byWords: clauses.some(({ byWords }) => byWords),
    ...(used === undefined ? {} : { wildcard: used }),
  };
}

function oneText(text: string, { mode, caseSensitive }: TextFilter, fields: FieldMap): TextClause {
  if (mode === 'substring') return substring(text, caseSensitive, fields);
  if (mode === 'regex') return pattern(text, caseSensitive, fields);
  return words(text, mode === 'prefix', caseSensitive, fields);
}

/** Throws NotSupported where no index knows words. */
function words(text: string, goesOn: boolean, caseSensitive: boolean, fields: FieldMap): TextClause {
  if (!hasWords(fields)) throw notIndexed(fields.names.message);
  const clause = foldedWords(text, goesOn, fields.names.message);
  if (!caseSensitive && text.includes(DOTTED)) return dotted(text, goesOn, clause, fields);
  if (!caseSensitive || text.toLowerCase() === text.toUpperCase()) return { clause, byWords: true };
  const coverage = wildcardFields(fields, 'case');
  const value = checked(casedPhrase(wordsOf(text), goesOn));
  return {
    clause: allOf([clause, overFields(coverage, (field) => regexp(field, value))]),
    byWords: true,
    wildcard: coverage,
  };
}

/** In any of the indices. */
function hasWords({ words: { missing, of } }: FieldMap): boolean {
  return missing.length < of;
}

/** Exact for any number of words that begin so: nothing is cut at some number of expansions. */
const ALL_EXPANSIONS = 2_147_483_647;

function foldedWords(text: string, goesOn: boolean, message: string): Clause {
  const all = wordsOf(text);
  const [only] = all;
  if (only === undefined) return NOTHING;
  if (!goesOn) return { match_phrase: { [message]: { query: text } } };
  if (all.length === 1) return { prefix: { [message]: { value: folded(only) } } };
  return { match_phrase_prefix: { [message]: { query: text, max_expansions: ALL_EXPANSIONS } } };
}

/** Lucene turns this letter into a plain `i`; everybody else keeps the dot. */
const DOTTED = '\u0130';
const WITH_MARK = 'i\u0307';

function dotted(text: string, goesOn: boolean, clause: Clause, fields: FieldMap): TextClause {
  const coverage = wildcardFields(fields, 'case');
  const marked = foldedWords(text.replaceAll(DOTTED, WITH_MARK), goesOn, fields.names.message);
  const held = overFields(coverage, (field) => regexp(field, `.*${DOTTED}.*`));
  return { clause: anyOf([allOf([clause, held]), marked]), byWords: true, wildcard: coverage };
}

/** As Lucene's lower case filter does it: each character by itself. */
function folded(word: string): string {
  return Array.from(word, (character) => {
    const lower = Array.from(character.toLowerCase());
    return lower[0] ?? character;
  }).join('');
}

/** Any occurrence of such a text lies within one word, so that the words tell it, and no line has to be read. */
const WITHIN_ONE_WORD = /^(?=.*[0-9A-Za-z])[0-9A-Za-z_]{1,200}$/;

/** A text of a thousand characters needs more than what is granted by default. */
const LITERAL_WORK = 200_000;

function substring(text: string, caseSensitive: boolean, fields: FieldMap): TextClause {
  const { message } = fields.names;
  // Where some indices have no words, the others must not be all that is looked through.
  const isInWords = hasWords(fields) && fields.words.missing.length <= fields.wildcard().missing.length;
  if (!caseSensitive && isInWords && WITHIN_ONE_WORD.test(text)) {
    return { clause: wildcard(message, text.toLowerCase(), false), byWords: true };
  }
  const coverage = wildcardFields(fields, 'match');
  const { value, ignoreCase } = literalSomewhere(text, caseSensitive);
  checked(value);
  return {
    clause: overFields(coverage, (field) => regexp(field, value, { ignoreCase, work: LITERAL_WORK })),
    byWords: false,
    wildcard: coverage,
  };
}

function pattern(text: string, caseSensitive: boolean, fields: FieldMap): TextClause {
  const coverage = wildcardFields(fields, 'match');
  const parsed = parsePattern(text);
  const { value, ignoreCase } = somewhere(parsed, caseSensitive);
  checked(value);
  const work = isLiteral(parsed) ? { work: LITERAL_WORK } : {};
  return {
    clause: overFields(coverage, (field) => regexp(field, value, { ignoreCase, ...work })),
    byWords: false,
    wildcard: coverage,
  };
}

/** The fields for parts of lines; throws NotSupported when no index has one. */
export function wildcardFields(fields: FieldMap, parameter: string): FieldCoverage {
  const coverage = fields.wildcard();
  if (coverage.fields.length > 0) return coverage;
  const { message } = fields.names;
  throw newNotSupported(
    STORE,
    parameter,
    `its indices tell words only; add a subfield of type wildcard to \`${message}\`, see docs/log-store-opensearch.md`,
  );
}

function notIndexed(message: string): StatusError {
  const cure = `its indices do not index \`${message}\`, so that it finds no words; ask without \`log_query\`, or with \`match=substring\` where there is a subfield of type wildcard`;
  return newNotSupported(STORE, 'log_query', cure);
}

function checked(value: string): string {
  if (value.length <= MAX_REGEX_LENGTH) return value;
  throw newNotSupported(STORE, 'log_query', 'the pattern is too long; ask for a shorter one');
}
