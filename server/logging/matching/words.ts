// The words of a line, as UAX #29 and Lucene's standard tokenizer tell them apart.
import { CLASSES as C } from './characters.ts';

const letters = `${C.letter}${C.mark}*(?:${C.letterJoiner}${C.mark}*(?=${C.letter}))?`;
const digits = `${C.digit}${C.mark}*(?:${C.digitJoiner}${C.mark}*(?=${C.digit}))?`;
const run = `(?:(?:${letters}|${digits})+|(?:${C.katakana}${C.mark}*)+)`;

/** With their marks and colours; joined, several are one. */
const dressed = `(?:${C.mark}|${C.emojiModifier})*`;
const emoji = `${C.emoji}${dressed}(?:(?<=\\u200d)${C.pictograph}${dressed})*`;

const underscores = `(?:${C.underscore}${C.mark}*)`;
/** From the first of them on, and not from each: a line of nothing else would take the square of its length. */
const leading = `(?:(?=${C.underscore})(?<!${underscores})${underscores}+)?`;

let word: RegExp | undefined;

/** Joined over underscores, and with those at both ends; underscores alone are no word. */
function pattern(): RegExp {
  word ??= new RegExp(
    [
      `${leading}${run}(?:${underscores}+${run})*${underscores}*`,
      `${C.ideograph}${C.mark}*`,
      `(?:${C.southEastAsian}${C.mark}*)+`,
      emoji,
    ].join('|'),
    'gv',
  );
  return word;
}

/** Begin, and end exclusive, in UTF-16 code units. */
export type Span = readonly [begin: number, end: number];

/** In the order of the text. */
export function wordsOf(text: string): string[] {
  return text.match(pattern()) ?? [];
}

/** Looks no further than the first. */
export function hasWord(text: string): boolean {
  return text.search(pattern()) >= 0;
}

export function wordSpans(text: string): { readonly word: string; readonly span: Span }[] {
  return Array.from(text.matchAll(pattern()), ({ index, 0: word }) => ({
    word,
    span: [index, index + word.length],
  }));
}
