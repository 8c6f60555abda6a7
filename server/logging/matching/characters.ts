// Which characters make words: the classes of UAX #29 that matter for log lines, as Lucene's standard tokenizer has
// them. Written for JavaScript (flag `v`); re2Class writes the same sets for RE2, which does not know all of them.
import { escaped } from './re2.ts';

const IDEOGRAPHS = '\\p{Script=Han}\\p{Script=Hiragana}';
/** With the marks that lengthen a sound: they belong to no script. */
const LONG_SOUNDS = '\\u3031-\\u3035\\u30fc\\uff70';
const KATAKANA = `\\p{Script=Katakana}${LONG_SOUNDS}`;
/** Scripts without spaces: a run is one word. Their digits are digits, and their signs no words. */
const SOUTH_EAST_ASIAN = [
  '[[\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tai_Le}',
  '\\p{Script=New_Tai_Lue}\\p{Script=Tai_Tham}\\p{Script=Tai_Viet}]&&[\\p{L}\\p{M}]]',
].join('');
/** The sounding marks of half-width Katakana, which Unicode calls letters. */
const SOUND_MARKS = '\\uff9e\\uff9f';
/** Signs that go with letters, such as circled ones and accents that stand alone. */
const LETTERLIKE = [
  '\\u02c2-\\u02c5\\u02d2-\\u02d7\\u02de\\u02df\\u02ed\\u02ef-\\u02ff',
  '\\u055b\\u055c\\u055e\\u05f3\\u24b6-\\u24e9\\ua720\\ua721\\ua789\\ua78a\\uab5b',
].join('');
/** An ideograph that is of no script. */
const SHIME = '\\u3006';
/** Characters that nobody sees, and the joiner: soft hyphens, byte order marks, the direction of writing. */
const INVISIBLE = [
  '\\u00ad\\u061c\\u180e\\u200c-\\u200f\\u202a-\\u202e',
  '\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb',
  // What a flag such as that of Scotland is spelt with.
  '\\u{e0001}\\u{e0020}-\\u{e007f}',
].join('');
/** What earlier versions of Unicode took for pictures, ★ for one, and where they meant later ones to come. */
const EARLIER_PICTURES = [
  '\\u2388\\u2600-\\u2605\\u2607-\\u2612\\u2614-\\u2685\\u2690-\\u2705\\u2708-\\u2712\\u2763-\\u2767',
  '\\u{1f000}-\\u{1f0ff}\\u{1f10d}-\\u{1f10f}\\u{1f12f}\\u{1f16c}-\\u{1f16f}\\u{1f1ad}-\\u{1f1e5}\\u{1f249}-\\u{1f3fa}',
  '\\u{1f400}-\\u{1f53d}\\u{1f546}-\\u{1f64f}\\u{1f680}-\\u{1f6ff}\\u{1f774}-\\u{1f77f}\\u{1f7d5}-\\u{1f7ff}',
  '\\u{1f8ae}-\\u{1f8ff}\\u{1f947}-\\u{1faff}',
].join('');
const PICTURES = `\\p{Extended_Pictographic}${EARLIER_PICTURES}`;

/** With the decimal point of Arabic. */
const DIGITS = '\\p{Nd}\\u066b';
/** With the narrow space that parts thousands. */
const UNDERSCORES = '\\p{Pc}\\u202f';

export const CLASSES = {
  letter: `[[\\p{L}\\p{Nl}${LETTERLIKE}]--[${IDEOGRAPHS}${KATAKANA}${SOUTH_EAST_ASIAN}${SOUND_MARKS}${SHIME}]]`,
  digit: `[${DIGITS}]`,
  /** Goes with the character before it. */
  mark: `[\\p{M}${SOUND_MARKS}${INVISIBLE}]`,
  underscore: `[${UNDERSCORES}]`,
  ideograph: `[${IDEOGRAPHS}]`,
  katakana: `[${KATAKANA}]`,
  southEastAsian: `[${SOUTH_EAST_ASIAN}]`,
  /** Pictures, also those that are shown as text unless told otherwise, such as ⚠; flags are two letters, each a picture. */
  emoji: `[${PICTURES}\\p{Emoji_Modifier}\\p{Regional_Indicator}]`,
  /** Skin colours: of the emoji before them, or alone. */
  emojiModifier: '[\\p{Emoji_Modifier}]',
  /** What a joiner (U+200D) joins with the emoji before it. */
  pictograph: `[${PICTURES}]`,
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
  ['digit', inRE2(DIGITS)],
  ['mark', inRE2(`\\p{M}${SOUND_MARKS}${INVISIBLE}`)],
  ['underscore', inRE2(UNDERSCORES)],
  ['ideograph', '\\p{Han}\\p{Hiragana}'],
  ['katakana', `\\p{Katakana}${inRE2(LONG_SOUNDS)}`],
]);

function inRE2(members: string): string {
  return members.replaceAll(/\\u\{?([0-9a-f]{4,})\}?/g, '\\x{$1}');
}

/** Letters with all others that Unicode calls so: RE2 cannot take one set from another. */
export const RE2_ALL_LETTERS = `\\p{L}\\p{Nl}${inRE2(LETTERLIKE)}`;
/** Classes of letters that are not `letter`. */
export const LETTERS_APART: readonly CharacterClass[] = ['ideograph', 'katakana', 'southEastAsian', 'mark'];
/** And what is in no word. */
export const RE2_NO_LETTERS = inRE2(SHIME);

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
