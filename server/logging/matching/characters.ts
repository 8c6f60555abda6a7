// Which characters make words: the classes of UAX #29 that matter for log lines, as Lucene's standard tokenizer has
// them. Written for JavaScript (flag `v`); re2Class writes the same sets for RE2, which does not know all of them.
import { escaped } from './re2.ts';

const IDEOGRAPHS = '\\p{Script=Han}\\p{Script=Hiragana}';
/** With the marks that lengthen a sound: they belong to no script. */
const KATAKANA = '\\p{Script=Katakana}\\u3031-\\u3035\\u30fc\\uff70';
/** Scripts without spaces: a run is one word. */
const SOUTH_EAST_ASIAN = '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
/** Characters that nobody sees, and the joiner: soft hyphens, byte order marks, the direction of writing. */
const INVISIBLE = [
  '\\u00ad\\u061c\\u180e\\u200c-\\u200f\\u202a-\\u202e',
  '\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb',
].join('');

export const CLASSES = {
  letter: `[[\\p{L}\\p{Nl}]--[${IDEOGRAPHS}${KATAKANA}${SOUTH_EAST_ASIAN}]]`,
  digit: '[\\p{Nd}]',
  /** Goes with the character before it. */
  mark: `[\\p{M}${INVISIBLE}]`,
  underscore: '[\\p{Pc}]',
  ideograph: `[${IDEOGRAPHS}]`,
  katakana: `[${KATAKANA}]`,
  southEastAsian: `[${SOUTH_EAST_ASIAN}]`,
  /** Pictures, also those that are shown as text unless told otherwise, such as ⚠; flags are two letters, each a picture. */
  emoji: '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{Regional_Indicator}]',
  /** Skin colours: of the emoji before them, or alone. */
  emojiModifier: '[\\p{Emoji_Modifier}]',
  /** What a joiner (U+200D) joins with the emoji before it. */
  pictograph: '[\\p{Extended_Pictographic}]',
  /** Joins two letters when it stands alone between them. */
  letterJoiner:
    "[.':\\u00b7\\u0387\\u055f\\u05f4\\u2018\\u2019\\u2024\\u2027\\ufe13\\ufe52\\ufe55\\uff07\\uff0e\\uff1a]",
  /** Joins two digits when it stands alone between them. */
  digitJoiner:
    "[.',;\\u037e\\u0589\\u060c\\u060d\\u066c\\u07f8\\u2018\\u2019\\u2024\\u2044\\ufe10\\ufe14\\ufe50\\ufe52\\ufe54\\uff07\\uff0c\\uff0e\\uff1b]",
} as const;
export type CharacterClass = keyof typeof CLASSES;

/** What is part of some word, or may be. */
export const WORDLIKE: readonly CharacterClass[] = [
  'letter',
  'digit',
  'mark',
  'underscore',
  'ideograph',
  'katakana',
  'southEastAsian',
  'emoji',
];

/** The class that the character belongs to, joiners left aside; undefined for what is in no word. */
export function classOf(character: string): CharacterClass | undefined {
  return WORDLIKE.find((name) => test(name).test(character));
}

/** Compiled when first needed: most servers never look at a line. */
const tests = new Map<CharacterClass, RegExp>();
function test(name: CharacterClass): RegExp {
  let compiled = tests.get(name);
  if (!compiled) {
    compiled = new RegExp(`^${CLASSES[name]}`, 'v');
    tests.set(name, compiled);
  }
  return compiled;
}

/** Shorter than their ranges; RE2 knows them by name. */
const written = new Map<CharacterClass, string>([
  ['digit', '\\p{Nd}'],
  ['mark', `\\p{M}${INVISIBLE.replaceAll(/\\u([0-9a-f]{4})/g, '\\x{$1}')}`],
  ['underscore', '\\p{Pc}'],
  ['ideograph', '\\p{Han}\\p{Hiragana}'],
  ['katakana', '\\p{Katakana}'],
  ['southEastAsian', '\\p{Thai}\\p{Lao}\\p{Khmer}\\p{Myanmar}'],
]);

/** Letters and those of LETTERS_APART together: RE2 cannot take one set from another. */
export const RE2_ALL_LETTERS = '\\p{L}\\p{Nl}';
/** Classes of letters that are not `letter`. */
export const LETTERS_APART: readonly CharacterClass[] = ['ideograph', 'katakana', 'southEastAsian'];

/** The members of the class in the notation of RE2, without brackets. */
export function re2Class(name: CharacterClass): string {
  let members = written.get(name);
  if (members === undefined) {
    members = rangesOf(new RegExp(`^${CLASSES[name]}$`, 'v'));
    written.set(name, members);
  }
  return members;
}

/** Goes through all of Unicode once: some hundredths of a second. */
function rangesOf(set: RegExp): string {
  const ranges: string[] = [];
  let first: number | undefined;
  for (let code = 0; code <= LAST + 1; code++) {
    const isMember = code <= LAST && set.test(String.fromCodePoint(code));
    if (isMember) first ??= code;
    else if (first !== undefined) {
      ranges.push(code - 1 === first ? escaped(first) : `${escaped(first)}-${escaped(code - 1)}`);
      first = undefined;
    }
  }
  return ranges.join('');
}

/** Behind the planes 0 to 3 there are no letters. */
const LAST = 0x3ffff;
