// The texts that `log_query` asks for, and the words in them.
import type { LogQuery, MatchMode } from './log-query.ts';

const WORD = /[\p{L}\p{N}_]+/u;
const WORDS = /[\p{L}\p{N}_]+/gu;

/** Runs of letters, digits and underscores. Stores may split lines into words by rules of their own. */
export function wordsOf(text: string): readonly string[] {
  return text.match(WORDS) ?? [];
}

export function hasWord(text: string): boolean {
  return WORD.test(text);
}

export interface TextSearch {
  readonly mode: MatchMode;
  readonly texts: readonly string[];
}

/**
 * Splits `log_query` at commas in the modes that search for words. `prefix` without any word becomes `substring`:
 * consoles send whole lines, and some lines consist of punctuation.
 */
export function textSearchOf({ log_query: text, match }: Pick<LogQuery, 'log_query' | 'match'>): TextSearch {
  if (text === undefined) return { mode: match, texts: [] };
  if (match === 'substring' || match === 'regex') return { mode: match, texts: [text] };
  if (match === 'prefix' && !hasWord(text)) return { mode: 'substring', texts: [text] };
  return { mode: match, texts: text.split(',').filter((part) => part.trim() !== '') };
}
