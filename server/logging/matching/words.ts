// Words of a line: runs of letters, digits and underscores. Pod logs, highlights and validation use this definition;
// OpenSearch and VictoriaLogs split lines by analysers of their own.

/** Begin, and end exclusive, in UTF-16 code units. */
export type Span = readonly [begin: number, end: number];

const WORD = /[\p{L}\p{N}_]+/u;
const WORDS = /[\p{L}\p{N}_]+/gu;

/** In the order of the text. */
export function wordsOf(text: string): string[] {
  return text.match(WORDS) ?? [];
}

export function hasWord(text: string): boolean {
  return WORD.test(text);
}

export function wordSpans(text: string): { readonly word: string; readonly span: Span }[] {
  return Array.from(text.matchAll(WORDS), ({ index, 0: word }) => ({
    word,
    span: [index, index + word.length],
  }));
}
