// What lines have to say. The meaning is one regular expression, which the store's engine tries on every line it is
// given; so a cheap look for what the line holds in any case goes first. It may let too many through, never too few.
import type { Level } from '../../../../apis/logging/v1alpha2/log-query.ts';
import type { TextFilter } from '../../log-store.ts';
import { KLOG_LETTERS, LEVEL_WORDS, levelPattern } from '../../matching/levels.ts';
import { linePattern } from '../../matching/line-pattern.ts';
import { wordsOf } from '../../matching/words.ts';
import { asciiPhrase } from './ascii-words.ts';
import { eitherOf, holdsOneOf, matches, quoted } from './logsql.ts';
import { requiredOf, runsIn } from './required-text.ts';

export interface LineFilter {
  /** Pipes that leave exactly the lines wanted. */
  readonly exact: readonly string[];
  /**
   * Where that costs the store much: pipes that do so for lines of ASCII, and leave of the others all that may be
   * wanted. Those are told by `UNSURE`.
   */
  readonly quick?: readonly string[];
}

/** The line in small letters, while a query runs. The store's own filters for any case look for words as it sees them. */
const LOWER = 'ks_lower';

/** A filter: the line is not all ASCII. */
export function unsure(message: string): string {
  return matches(message, '[^\\x{0}-\\x{7f}]');
}

export function textFilter(message: string, text: TextFilter): LineFilter {
  const isFolded = !text.caseSensitive && canBeLowered(message);
  const prefilter = prefilterOf(isFolded ? LOWER : message, text, isFolded);
  const rough = [
    ...(isFolded && prefilter !== undefined ? [inSmallLetters(message)] : []),
    ...(prefilter === undefined ? [] : [`filter ${prefilter}`]),
  ];
  const exact = [...rough, `filter ${matches(message, undisguised(linePattern(text)))}`];
  const sure = asciiPattern(text);
  // Lines of ASCII can not hold what is not; for others nothing but the rough look tells which.
  if (sure === undefined || (sure === NONE && prefilter === undefined)) return { exact };
  const quick = sure === NONE ? unsure(message) : `(${matches(message, sure)} or ${unsure(message)})`;
  return { exact, quick: [...rough, `filter ${quick}`] };
}

export function levelFilter(message: string, levels: readonly Level[]): LineFilter {
  const exact = `filter ${matches(message, levelPattern(levels))}`;
  if (!canBeLowered(message)) return { exact: [exact] };
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const klog = letters === '' ? [] : [matches(message, `^[${letters}][0-9]{4}`)];
  const words = holdsOneOf(
    LOWER,
    levels.flatMap((level) => LEVEL_WORDS[level]),
  );
  return { exact: [inSmallLetters(message), `filter ${eitherOf([words, ...klog])}`, exact] };
}

/** Names of fields within the template can not be quoted. */
function canBeLowered(message: string): boolean {
  return /^[\w.@/-]+$/.test(message);
}

function inSmallLetters(message: string): string {
  return `format ${quoted(`<lc:${message}>`)} as ${LOWER}`;
}

/** Undefined when there is none, or when the pattern is no slower. */
function prefilterOf(
  field: string,
  { mode, texts, caseSensitive }: TextFilter,
  isFolded: boolean,
): string | undefined {
  if (caseSensitive ? mode === 'substring' : !isFolded) return undefined;
  const needed = texts.map((text) => {
    if (mode === 'regex') return requiredOf(text, caseSensitive);
    const words = mode === 'substring' ? [text] : wordsOf(text);
    return longestOf(words.flatMap((word) => runsIn(word, caseSensitive)));
  });
  if (needed.some((pieces) => pieces.length === 0)) return undefined;
  return eitherOf(
    needed.map((pieces) => {
      const each = pieces.map((piece) => (caseSensitive ? holdsOneOf(field, [piece]) : holdsFolded(piece)));
      return each.length === 1 ? each.join('') : `(${each.join(' ')})`;
    }),
  );
}

/** Each piece costs the store a look at every line; the long ones rule most lines out. */
function longestOf(pieces: readonly string[]): string[] {
  return [...new Set(pieces)].toSorted((left, right) => right.length - left.length).slice(0, MAX_PIECES);
}

const MAX_PIECES = 3;

/** The store makes a small s of S alone, while ſ counts as one too when case is ignored. */
function holdsFolded(piece: string): string {
  const small = piece.toLowerCase();
  const plain = holdsOneOf(LOWER, [small]);
  // The first byte of ſ: the store looks for half a character as bytes, without minding words.
  return small.includes('s') ? `(${plain} or ${quoted(LOWER)}:"\\xc5")` : plain;
}

/** No line of ASCII is wanted. */
const NONE = '';

/** What finds the lines of ASCII; undefined where the exact pattern costs no more. */
function asciiPattern({ mode, texts, caseSensitive }: TextFilter): string | undefined {
  if (mode !== 'phrase' && mode !== 'prefix') return undefined;
  const patterns = texts
    .map(wordsOf)
    .filter((words) => words.length > 0 && words.every((word) => isASCII(word, caseSensitive)))
    .map((words) => asciiPhrase(words, mode === 'prefix', caseSensitive));
  if (patterns.length === 0) return NONE;
  return patterns.join('|');
}

/** When case is ignored, ſ and the Kelvin sign are letters of ASCII too. */
function isASCII(text: string, caseSensitive: boolean): boolean {
  return Array.from(text).every((one) => one < '\u0080' || (!caseSensitive && /[\u017f\u212a]/u.test(one)));
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
