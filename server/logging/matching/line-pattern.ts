// A text filter as one regular expression of RE2, for stores that search by those. RE2 does not look around, so what
// stands beside a word is part of what is found: good for telling whether a line matches, not for where.
import type { TextFilter } from '../log-store.ts';
import {
  type CharacterClass,
  CLASSES,
  classOf,
  LETTERS_APART,
  RE2_ALL_LETTERS,
  RE2_NO_LETTERS,
  re2Class,
  WORDLIKE,
} from './characters.ts';
import { literal, toRE2 } from './re2.ts';
import { parsePattern } from './regex-dialect.ts';
import { wordsOf } from './words.ts';

/** Throws what parsePattern throws; a text without words finds nothing in the modes that look for words. */
export function linePattern({ mode, texts, caseSensitive }: TextFilter): string {
  const patterns = texts.map((text) => {
    if (mode === 'regex') return toRE2(parsePattern(text), { ignoreCase: !caseSensitive, end: LINE_END });
    if (mode === 'substring') return literal(text);
    return phrase(wordsOf(text), mode === 'prefix', caseSensitive);
  });
  // Words ignore case by themselves: in what stands beside them it would cost much, and ι is no mark.
  const all = !caseSensitive && (mode === 'regex' || mode === 'substring') ? '(?i)' : '';
  return `${all}(?:${patterns.join('|')})`;
}

/** A store may keep newlines that ended the line. */
const LINE_END = '\\x{a}*$';

/** Cannot be found in any text. */
const NOTHING = '[^\\x{0}-\\x{10ffff}]';

function phrase(words: readonly string[], goesOn: boolean, caseSensitive: boolean): string {
  if (words.length === 0) return NOTHING;
  return words
    .map((word, index) => {
      const previous = words[index - 1];
      const before = previous === undefined ? begin(word) : gap(previous, word);
      return `${before}${caseSensitive ? literal(word) : `(?i:${literal(word)})`}`;
    })
    .concat(goesOn ? '' : end(words.at(-1) ?? ''))
    .join('');
}

/** What a joiner joins, by the characters at both sides. */
const JOINERS: Partial<Record<CharacterClass, CharacterClass>> = {
  letter: 'letterJoiner',
  digit: 'digitJoiner',
};

/** Classes that go on in the same word when they stand directly beside this one; marks go with everything. */
const STICKS: Partial<Record<CharacterClass, readonly CharacterClass[]>> = {
  letter: ['letter', 'digit', 'underscore'],
  digit: ['letter', 'digit', 'underscore'],
  underscore: ['letter', 'digit', 'underscore', 'katakana'],
  katakana: ['katakana', 'underscore'],
  southEastAsian: ['southEastAsian'],
  emoji: ['emojiModifier'],
};

/** Marks belong to the character before them, whatever that is. */
const MARKS = `[${re2Class('mark')}]*`;

/** Joins the emoji at both its sides. */
const ZWJ = '\u200d';

/** The first character of the word is not within another one. */
function begin(word: string): string {
  const first = firstClass(word);
  if (first === 'emoji') return beginOfEmoji(word);
  const sticks = STICKS[first ?? 'mark'];
  if (!first || !sticks) return '';
  const joiner = JOINERS[first];
  const beside = `(?:^|${outside([...sticks, 'mark', ...(joiner ? [joiner] : [])])})${MARKS}`;
  if (!joiner) return beside;
  return `(?:${beside}|(?:^|${outside([first, 'mark'])})${MARKS}${within([joiner])}${MARKS})`;
}

function beginOfEmoji(word: string): string {
  const apart = `(?:^|${outside(['emoji', 'mark'])})${MARKS}`;
  if (belongsTo('emojiModifier', word)) return apart;
  return belongsTo('pictograph', word) ? `(?:^|[^${literal(ZWJ)}]|${apart}${literal(ZWJ)})` : '';
}

function belongsTo(name: CharacterClass, word: string): boolean {
  return new RegExp(`^${CLASSES[name]}`, 'v').test(word);
}

/** The same for the last character, and what follows. */
function end(word: string): string {
  const last = lastClass(word);
  const joiner = JOINERS[last];
  const stuck = [...(STICKS[last] ?? []), ...(endsJoined(word) ? (['pictograph'] as const) : [])];
  const beside = `(?:$|${outside([...stuck, 'mark', ...(joiner ? [joiner] : [])])}`;
  return joiner ? `${beside}|${within([joiner])}${MARKS}(?:$|${outside([last, 'mark'])}))` : `${beside})`;
}

/** Between two words of a phrase: nothing that is a word, and enough to part them. */
function gap(before: string, after: string): string {
  const last = lastClass(before);
  const first = firstClass(after) ?? 'mark';
  const joiner = last === first ? JOINERS[last] : undefined;
  const [isBefore, isAfter] = [last, first].map(takesUnderscores);
  const single = outside([...between(isBefore || isAfter), ...(joiner ? [joiner] : [])]);
  const inner = outside(WORDLIKE.filter((name) => name !== 'mark' && name !== 'underscore'));
  const longer = `${outside(between(isBefore))}${inner}*${outside(between(isAfter))}`;
  const parted = `(?:${single}|${longer})${MARKS}`;
  const sticks =
    last === 'emoji'
      ? belongsTo('emojiModifier', after) || (endsJoined(before) && belongsTo('pictograph', after))
      : (STICKS[last] ?? []).includes(first);
  return sticks ? parted : `(?:${parted})?`;
}

/** Whether an underscore beside a character of the class would be of the same word. */
function takesUnderscores(name: CharacterClass): boolean {
  return (STICKS[name] ?? []).includes('underscore');
}

/** What does not stand between two words, beside one that takes underscores or one that does not. */
function between(takesUnderscores: boolean | undefined): readonly CharacterClass[] {
  return takesUnderscores === true ? WORDLIKE : WORDLIKE.filter((name) => name !== 'underscore');
}

/** An emoji to which another one would belong. */
function endsJoined(word: string): boolean {
  return word.endsWith(ZWJ) && lastClass(word) === 'emoji';
}

/** Some vowels are marks, and may begin a word. */
function firstClass(word: string): CharacterClass | undefined {
  return belongsTo('southEastAsian', word) ? 'southEastAsian' : classOf(Array.from(word)[0] ?? '');
}

/** Of the character that the marks at the end belong to. */
function lastClass(word: string): CharacterClass {
  const classes = Array.from(word, classOf);
  return classes.findLast((name) => name !== undefined && name !== 'mark') ?? 'mark';
}

function within(names: readonly CharacterClass[]): string {
  return `[${names.map(re2Class).join('')}]`;
}

/** Any other character. The ranges of `letter` would take pages; it is written as all letters less some. */
function outside(names: readonly CharacterClass[]): string {
  if (!names.includes('letter')) return `[^${names.map(re2Class).join('')}]`;
  const rest = names.filter((name) => name !== 'letter').map(re2Class);
  const others = `[^${RE2_ALL_LETTERS}${rest.join('')}]`;
  const apart = LETTERS_APART.filter((name) => !names.includes(name)).map(re2Class);
  return `(?:${others}|[${apart.join('')}${RE2_NO_LETTERS}])`;
}
