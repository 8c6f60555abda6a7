// A text filter as one RE2 pattern, for stores that search by patterns. RE2 has no lookaround, so a match includes the
// characters beside a word: the pattern tells whether a line matches, not where.
import { wordsOf } from '../../../apis/logging/v1alpha2/text-search.ts';
import type { TextFilter } from '../log-store.ts';
import { literal, toRE2 } from './re2.ts';
import { parsePattern } from './regex-dialect.ts';

/** A store may keep the newlines that ended the line. */
const LINE_END = '\\x{a}*$';
/** Matches no text. */
const NOTHING = '[^\\x{0}-\\x{10ffff}]';
const SEPARATOR = '[^\\p{L}\\p{N}_]';

/** Throws the errors of parsePattern(). A text without words matches nothing in the modes `phrase` and `prefix`. */
export function linePattern({ mode, texts, caseSensitive }: TextFilter): string {
  const patterns = texts.map((text) => {
    if (mode === 'regex') return toRE2(parsePattern(text), { ignoreCase: !caseSensitive, end: LINE_END });
    if (mode === 'substring') return literal(text);
    return phrase(wordsOf(text), mode);
  });
  return `${caseSensitive ? '' : '(?i)'}(?:${patterns.join('|')})`;
}

function phrase(words: readonly string[], mode: 'phrase' | 'prefix'): string {
  if (words.length === 0) return NOTHING;
  const end = mode === 'prefix' ? '' : `(?:$|${SEPARATOR})`;
  return `(?:^|${SEPARATOR})${words.map(literal).join(`${SEPARATOR}+`)}${end}`;
}
