import { MAX_WORDS } from '../../apis/logging/v1alpha2/log-query.ts';
import type { TextFault } from '../../apis/logging/v1alpha2/log-query-decoder.ts';
import { parsePattern } from './matching/regex-dialect.ts';
import { wordsOf } from './matching/words.ts';

export const textFault: TextFault = (mode, text, before) => {
  if (mode === 'substring') return undefined;
  if (mode !== 'regex') {
    const words = wordsOf(text).length;
    if (words === 0) return 'has no word to look for; match=substring finds other characters';
    const all = words + wordsOf(before.join('\n')).length;
    return all > MAX_WORDS ? `makes it ${all} words, and ${MAX_WORDS} may be looked for` : undefined;
  }
  try {
    parsePattern(text);
    return undefined;
  } catch (error) {
    return `is not a pattern: ${error instanceof Error ? error.message : String(error)}`;
  }
};
