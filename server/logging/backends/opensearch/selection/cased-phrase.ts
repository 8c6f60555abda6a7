// Words in a line whose case counts, as a regular expression of Lucene. The analysed field has told already that the
// words are there in some case, next to each other; this tells whether they are there in just this case. A thousand
// characters hold no table of all letters, so blocks of the alphabets stand for them: for a wrong answer a line has to
// hold the words twice, once in another case and once within a longer word beside the rarest of signs.
import { type CharacterClass, classOf } from '../../../matching/characters.ts';
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
/** What makes one word of the characters at both its sides. */
const JOINERS: Partial<Record<CharacterClass, { readonly same: string; readonly signs: string }>> = {
  letter: { same: LETTERS, signs: "\\.'\\:\u00b7\u0387\u2018\u2019\u2024\u2027" },
  digit: { same: DIGITS, signs: "\\.',;\u2018\u2019\u2024" },
};
const RUNNING = new Set<CharacterClass | undefined>(['letter', 'digit', 'underscore', 'mark']);

/** Over the whole line; of the words in their order, the last of which may go on. */
export function casedPhrase(words: readonly string[], goesOn: boolean): string {
  const inner = words.map((word, index) => {
    const previous = words[index - 1];
    return (previous === undefined ? '' : gap(previous, word)) + literal(word);
  });
  return `${begin(words[0] ?? '')}${inner.join('')}${goesOn ? '.*' : end(words.at(-1) ?? '')}`;
}

function begin(word: string): string {
  const first = firstClass(word);
  if (!RUNNING.has(first)) return '.*';
  const joiner = first && JOINERS[first];
  if (!joiner) return `(.*[^${RUN}])?`;
  return `((.*[^${RUN}${joiner.signs}])?|(.*[^${joiner.same}])?[${joiner.signs}])`;
}

function end(word: string): string {
  const last = lastClass(word);
  if (!RUNNING.has(last)) return '.*';
  const joiner = last && JOINERS[last];
  if (!joiner) return `([^${RUN}].*)?`;
  return `(([^${RUN}${joiner.signs}].*)?|[${joiner.signs}]([^${joiner.same}].*)?)`;
}

/** The analysed field has already ensured that there are only separators here. */
function gap(before: string, after: string): string {
  const runs = RUNNING.has(lastClass(before)) && RUNNING.has(firstClass(after));
  return runs ? '[^0-9A-Za-z]+' : '[^0-9A-Za-z]*';
}

function firstClass(word: string): CharacterClass | undefined {
  return classOf(Array.from(word)[0] ?? '');
}

function lastClass(word: string): CharacterClass | undefined {
  return Array.from(word, classOf).findLast((name) => name !== undefined && name !== 'mark');
}
