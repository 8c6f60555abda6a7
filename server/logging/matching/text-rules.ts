// What can be looked for, and what cannot: texts without a word, too many words, patterns that are none.
import { MAX_WORDS } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { TextRules } from '../../../apis/logging/v1alpha2/log-query-faults.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { parsePattern } from './regex-dialect.ts';
import { hasWord, wordsOf } from './words.ts';

export const textRules: TextRules = {
  hasWord,
  faults(mode, texts) {
    if (mode === 'substring') return [];
    if (mode === 'regex') return texts.flatMap(patternFaults);
    const [text = ''] = texts;
    const words = texts.reduce((sum, each) => sum + wordsOf(each).length, 0);
    if (texts.length > 0 && words === 0) {
      return [{ text, fault: 'has no word to look for; match=substring finds other characters' }];
    }
    if (words <= MAX_WORDS) return [];
    const subject = texts.length === 1 ? 'has' : 'and the texts behind it have';
    const most = `${MAX_WORDS} may be looked for; match=substring looks for a text as it stands`;
    return [{ text, fault: `${subject} ${words} words, and ${most}` }];
  },
};

function patternFaults(text: string) {
  try {
    parsePattern(text);
    return [];
  } catch (error) {
    return [{ text, fault: `is not a pattern: ${messageOf(error)}` }];
  }
}
