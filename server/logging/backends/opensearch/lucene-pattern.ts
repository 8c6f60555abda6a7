// Printer for the API's regular expressions in Lucene's syntax, which matches the whole value. Lucene's
// `case_insensitive` folds ASCII only up to Lucene 9, so other letters are folded here.
import { foldedCharacter, foldedRanges, type Range } from '../../matching/character-ranges.ts';
import type { Branch, Item, Pattern } from '../../matching/regex-dialect.ts';

const ANYTHING = '.*';
/** Newlines at the end of a record are not part of its line. */
const LINE_END = '\n*';

export interface LucenePattern {
  readonly value: string;
  /** Whether the engine has to ignore the case of ASCII letters. */
  readonly ignoreCase: boolean;
}

/**
 * What ignores case: nothing, the engine (for ASCII), or the pattern with sets of letters. The engine can use its index,
 * but Lucene 10 takes `ı` and `İ` for `i`, so patterns with these are written out.
 */
type Folding = 'none' | 'engine' | 'written';

const DOTTED_I = 0x130;
const DOTLESS_I = 0x131;
const UNLIKE_ENGINE: ReadonlySet<number> = new Set([DOTTED_I, DOTLESS_I]);

/** Matches a value that contains a match of the pattern. */
export function somewhere({ branches }: Pattern, caseSensitive: boolean): LucenePattern {
  const needsSets = branches.some(({ items }) => items.some(isUnlikeEngine));
  const folding = caseSensitive ? 'none' : needsSets ? 'written' : 'engine';
  const value = branches.map((branch) => printBranch(branch, folding)).join('|');
  return { value, ignoreCase: folding === 'engine' };
}

/** Matches a value that contains the text. */
export function literalSomewhere(text: string, caseSensitive: boolean): LucenePattern {
  const folding = caseSensitive ? 'none' : /[\u0130\u0131]/.test(text) ? 'written' : 'engine';
  return { value: `.*${literal(text, folding)}.*`, ignoreCase: folding === 'engine' };
}

/** Matches the text itself. */
export function literal(text: string, folding: Folding = 'none'): string {
  return Array.from(text, (letter) => printCharacter(letter.codePointAt(0) ?? 0, folding)).join('');
}

export function isLiteral({ branches }: Pattern): boolean {
  return (
    branches.length === 1 && branches.every(({ items }) => items.every(({ kind }) => kind === 'character'))
  );
}

function isUnlikeEngine(item: Item): boolean {
  switch (item.kind) {
    case 'character':
      return UNLIKE_ENGINE.has(item.code);
    case 'class':
      return item.ranges.some(([first, last]) => first === last && UNLIKE_ENGINE.has(first));
    case 'group':
      return item.branches.some((items) => items.some(isUnlikeEngine));
    case 'repeat':
      return isUnlikeEngine(item.item);
    default:
      return false;
  }
}

function printBranch({ atStart, atEnd, items }: Branch, folding: Folding): string {
  const inner = items.map((item) => print(item, folding)).join('');
  return `${atStart ? '' : ANYTHING}${inner}${atEnd ? LINE_END : ANYTHING}`;
}

function print(item: Item, folding: Folding): string {
  switch (item.kind) {
    case 'any':
      return '[^\n]';
    case 'class':
      return printSet(item.ranges, item.negated, folding);
    case 'group':
      return `(${item.branches.map((items) => printSequence(items, folding)).join('|')})`;
    case 'repeat':
      return `(${print(item.item, folding)})${printTimes(item.min, item.max)}`;
    default:
      return printCharacter(item.code, folding);
  }
}

function printSequence(items: readonly Item[], folding: Folding): string {
  return items.length === 0 ? '()' : items.map((item) => print(item, folding)).join('');
}

function printTimes(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : `{${min},}`;
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function printCharacter(code: number, folding: Folding): string {
  if (folding === 'none' || (folding === 'engine' && code < 0x80)) return escaped(code);
  const forms = foldedCharacter(code);
  return forms.length === 1 ? escaped(code) : printSet(forms, false, 'none');
}

function printSet(ranges: readonly Range[], negated: boolean, folding: Folding): string {
  const members = (folding === 'none' ? ranges : foldedRanges(ranges)).map(printRange);
  return `[${negated ? '^' : ''}${members.join('')}]`;
}

/**
 * Characters that must not begin a range: Lucene 10 requires `-`, `[`, `\`, `]` and `^` to be escaped, and the normalizer
 * of the index template replaces NUL, in patterns too.
 */
const NOT_FIRST: ReadonlySet<number> = new Set([0, 0x2d, 0x5b, 0x5c, 0x5d, 0x5e]);

function printRange([first, last]: Range): string {
  if (first === last) return printMember(first);
  return NOT_FIRST.has(first)
    ? printMember(first) + printRange([first + 1, last])
    : `${String.fromCodePoint(first)}-${printMember(last)}`;
}

function printMember(code: number): string {
  return code === 0x5c ? '\\\\' : escaped(code);
}

function escaped(code: number): string {
  // For an escaped backslash in a field of type wildcard, OpenSearch looks up wrong n-grams; for alternatives, none.
  if (code === 0x5c) return '(\\\\|\\\\)';
  const character = String.fromCodePoint(code);
  // An escaped letter or digit has another meaning.
  return code > 0x20 && code < 0x7f && !/[0-9A-Za-z]/.test(character) ? `\\${character}` : character;
}
