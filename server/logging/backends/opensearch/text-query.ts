// Clauses for the text of a line: words in the analysed field, patterns in the field with whole lines.
import type { TextFilter } from '../../log-store.ts';
import { parsePattern } from '../../matching/regex-dialect.ts';
import { newNotSupported } from '../../store-errors.ts';
import { anyOf, type Clause, MAX_REGEX_LENGTH, regexp, wildcard } from './clause.ts';
import { STORE } from './error-response.ts';
import type { Layout } from './layout.ts';
import { isLiteral, literalSomewhere, somewhere } from './lucene-pattern.ts';

/** A substring of this form is always within one word. */
const WITHIN_A_WORD = /^(?=.*[0-9A-Za-z])[0-9A-Za-z_]{1,200}$/;
/** One word to the analyser. */
const SINGLE_WORD = /^[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{N}_]+$/u;
/** The default of 50 expansions would miss lines. */
const UNLIMITED_EXPANSIONS = 2_147_483_647;
/** A literal of a thousand characters needs more states than the default. */
const LITERAL_STATES = 200_000;

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
