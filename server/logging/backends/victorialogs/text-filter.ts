// What lines have to say. The meaning is one regular expression, which the store's engine tries on every line it is
// given; so a cheap look for what the line holds in any case goes first. It may let too many through, never too few.
import type { Level } from '../../../../apis/logging/v1alpha2/log-query.ts';
import type { TextFilter } from '../../log-store.ts';
import { KLOG_LETTERS, LEVEL_WORDS, levelPattern } from '../../matching/levels.ts';
import { linePattern } from '../../matching/line-pattern.ts';
import { type Item, parsePattern } from '../../matching/regex-dialect.ts';
import { wordsOf } from '../../matching/words.ts';
import { eitherOf, holdsOneOf, matches, quoted } from './logsql.ts';

/** A filter, or pipes behind it where a filter has to look at something that is made first. */
export interface LineFilter {
  readonly filters: readonly string[];
  readonly pipes: readonly string[];
}

/** The line in small letters, while a query runs. The store's own filters for any case look for whole words of its own. */
const LOWER = 'ks_lower';

export function textFilter(message: string, text: TextFilter): LineFilter {
  const exact = matches(message, undisguised(linePattern(text)));
  const needed = text.texts.map((each) => piecesOf(text, each));
  if (needed.some((pieces) => pieces.length === 0)) return { filters: [exact], pipes: [] };
  if (text.caseSensitive) {
    if (text.mode === 'substring') return { filters: [exact], pipes: [] };
    return { filters: [prefilter(message, needed), exact], pipes: [] };
  }
  return inSmallLetters(message, prefilter(LOWER, needed), exact);
}

export function levelFilter(message: string, levels: readonly Level[]): LineFilter {
  const words = levels.flatMap((level) => LEVEL_WORDS[level]);
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const klog = letters === '' ? [] : [matches(message, `^[${letters}][0-9]{4}`)];
  return inSmallLetters(
    message,
    eitherOf([holdsOneOf(LOWER, words), ...klog]),
    matches(message, levelPattern(levels)),
  );
}

function inSmallLetters(message: string, rough: string, exact: string): LineFilter {
  // Names of fields within such a template can not be quoted.
  if (!/^[\w.@/-]+$/.test(message)) return { filters: [exact], pipes: [] };
  const pipes = [`format ${quoted(`<lc:${message}>`)} as ${LOWER}`, `filter ${rough}`, `filter ${exact}`];
  return { filters: [], pipes };
}

/** For one of the texts, all of its pieces. */
function prefilter(field: string, needed: readonly (readonly string[])[]): string {
  return eitherOf(
    needed.map((pieces) => {
      const each = pieces.map((piece) => (field === LOWER ? holdsFolded(piece) : holdsOneOf(field, [piece])));
      return each.length === 1 ? each.join('') : `(${each.join(' ')})`;
    }),
  );
}

/** Small letters do not fold ſ into s, as ignoring case does; the Kelvin sign they do fold. */
function holdsFolded(piece: string): string {
  const small = piece.toLowerCase();
  const plain = holdsOneOf(LOWER, [small]);
  // The first byte of ſ alone: the store looks for it as bytes, without minding words.
  return small.includes('s') ? `(${plain} or ${quoted(LOWER)}:"\\xc5")` : plain;
}

/** Texts of ASCII that a line needs for being found; none when it is not clear that it needs any. */
function piecesOf({ mode, caseSensitive }: TextFilter, text: string): string[] {
  if (mode === 'regex') return requiredOf(text);
  const pieces = mode === 'substring' ? [text] : wordsOf(text);
  return pieces.filter((piece) => piece !== '' && (caseSensitive || isASCII(piece)));
}

/** The longest run of plain characters, where there is no alternative to it. */
function requiredOf(pattern: string): string[] {
  const { branches } = parsePattern(pattern);
  const [only] = branches;
  if (!only || branches.length > 1) return [];
  const [longest = ''] = runsOf(only.items).toSorted((left, right) => right.length - left.length);
  return longest.length > 1 ? [longest] : [];
}

function runsOf(items: readonly Item[]): string[] {
  const runs = [''];
  for (const item of items) {
    const isPlain = item.kind === 'character' && item.code > 0 && item.code < 0x80;
    if (isPlain) runs.push((runs.pop() ?? '') + String.fromCodePoint(item.code));
    else runs.push('');
  }
  return runs;
}

function isASCII(text: string): boolean {
  return Array.from(text, (character) => character.charCodeAt(0)).every((code) => code > 0 && code < 0x80);
}

/** Never found. */
const NEVER = '\\z.';

/**
 * The store has short cuts for patterns with `.*` and `.+` that look at the first place only, and let `.` be a newline.
 * None of them is taken for a pattern with an alternative like this one.
 */
function undisguised(pattern: string): string {
  return pattern.includes('.') ? `${pattern}|${NEVER}` : pattern;
}
