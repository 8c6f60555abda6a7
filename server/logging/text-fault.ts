import type { TextFault } from '../../apis/logging/v1alpha2/log-query-decoder.ts';
import { parsePattern } from './matching/regex-dialect.ts';
import { wordsOf } from './matching/words.ts';

export const textFault: TextFault = (mode, text) => {
  if (mode === 'substring') return undefined;
  if (mode !== 'regex') {
    return wordsOf(text).length > 0
      ? undefined
      : 'has no word to look for; match=substring finds other characters';
  }
  try {
    parsePattern(text);
    return undefined;
  } catch (error) {
    return `is not a pattern: ${error instanceof Error ? error.message : String(error)}`;
  }
};
