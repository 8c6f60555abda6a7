// Substrings and regular expressions as one RE2 pattern, for stores that search by patterns.
import type { TextFilter } from '../log-store.ts';
import { literal, toRE2 } from './re2.ts';
import { parsePattern } from './regex-dialect.ts';

export interface PatternFilter extends Omit<TextFilter, 'mode'> {
  readonly mode: 'substring' | 'regex';
}

/** A store may keep the newlines that ended the line. */
const LINE_END = '\\x{a}*$';

/** Throws the errors of parsePattern(). */
export function linePattern({ mode, texts, caseSensitive }: PatternFilter): string {
  const patterns = texts.map((text) =>
    mode === 'regex'
      ? toRE2(parsePattern(text), { ignoreCase: !caseSensitive, end: LINE_END })
      : literal(text),
  );
  return `${caseSensitive ? '' : '(?i)'}(?:${patterns.join('|')})`;
}
