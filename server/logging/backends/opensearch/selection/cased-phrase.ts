// Words in a line whose case counts, as a regular expression of Lucene. The analysed field has told already that the
// words are there in some case, next to each other; this tells whether they are there in just this case. A thousand
// characters hold no table of all letters, so blocks of the alphabets stand for them: for a wrong answer a line has to
// hold the words twice, once in another case and once within a longer word beside the rarest of signs.
import { literal } from './lucene-pattern.ts';

const DIGITS = '0-9';
/**
 * With the marks that stand on them, and without the signs between words of their scripts, since a word may stand right
 * beside those. What follows a joiner or a picture's variant begins anew, too.
 */
const LETTERS = [
  'A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0386\u0388-\u0556\u0560-\u0588',
  '\u05d0-\u05f3\u0620-\u065f\u066e-\u06d3\u06d5-\u0963\u0966-\u0df3\u10a0-\u135f\u1380-\u166c\u1ab0-\u1fff',
  '\u24b6-\u24e9\u2c00-\u2dff\ua000-\ud7fb\ufb00-\ufdff\uff21-\uff3a\uff41-\uff5a',
].join('');
const RUN = `${LETTERS}${DIGITS}_`;

/** Over the whole line; of the words in their order, the last of which may be a prefix. */
export function casedPhrase(words: readonly string[], isPrefix: boolean): string {
  const end = isPrefix ? '.*' : `([^${RUN}].*)?`;
  // The analysed field has already ensured that only separators are between the words.
  return `(.*[^${RUN}])?${words.map((word) => literal(word)).join('[^0-9A-Za-z]+')}${end}`;
}
