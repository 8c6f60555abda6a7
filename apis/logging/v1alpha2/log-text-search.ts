import type { LogQuery, MatchMode } from './log-query.ts';

/**
 * What `log_query` looks for: a comma separates texts where whole words are meant, and is a comma elsewhere. Without any
 * word it is looked for as it stands, unless whole words were asked for: consoles send whole lines, `}` among them.
 */
export function textSearchOf(
  { log_query: text, match }: Pick<LogQuery, 'log_query' | 'match'>,
  hasWord: (text: string) => boolean,
): { readonly mode: MatchMode; readonly texts: readonly string[] } {
  if (text === undefined) return { mode: match, texts: [] };
  if (match === 'substring' || match === 'regex') return { mode: match, texts: [text] };
  if (match === 'prefix' && !hasWord(text)) return { mode: 'substring', texts: [text] };
  return { mode: match, texts: text.split(',').filter((part) => part.trim() !== '') };
}
