// Converter from the regular expressions of log queries to Lucene's syntax. A Lucene expression must match the whole
// value.
import { foldedCharacter, foldedRanges, type Range } from '../../matching/character-ranges.ts';
import type { Branch, Item, Pattern } from '../../matching/regex-dialect.ts';

const ANYTHING = '.*';
/** Newlines at the end of a record, which are not part of the line. */
const LINE_END = '\n*';

export interface LucenePattern {
  readonly value: string;
  /** Value of `case_insensitive`. */
  readonly ignoreCase: boolean;
}

/**
 * Case folding: none, by the engine (`case_insensitive`, for ASCII letters), or written into the pattern as character
 * classes. The engine can use its index.
 */
type Folding = 'none' | 'engine' | 'written';

/** Pattern of values that contain a match. */
export function somewhere({ branches }: Pattern, caseSensitive: boolean): LucenePattern {
  return folded(caseSensitive, (folding) => branches.map((each) => printBranch(each, folding)).join('|'));
}

/** Pattern of values that contain the text. */
export function literalSomewhere(text: string, caseSensitive: boolean): LucenePattern {
  return folded(caseSensitive, (folding) => `.*${literal(text, folding)}.*`);
}

function folded(caseSensitive: boolean, printed: (folding: Folding) => string): LucenePattern {
  if (caseSensitive) return { value: printed('none'), ignoreCase: false };
  const value = printed('engine');
  // Lucene 10 treats ı and İ as i.
  return /[\u0130\u0131]/.test(value)
    ? { value: printed('written'), ignoreCase: false }
    : { value, ignoreCase: true };
}

/** Pattern of the text itself. */
export function literal(text: string, folding: Folding = 'none'): string {
  return Array.from(text, (letter) => printCharacter(letter.codePointAt(0) ?? 0, folding)).join('');
}

export function isLiteral({ branches }: Pattern): boolean {
  return (
    branches.length === 1 && branches.every(({ items }) => items.every(({ kind }) => kind === 'character'))
  );
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
 * Characters that a range must not start with. Lucene 10 requires an escape for `-`, `[`, `\`, `]` and `^`. The
 * normalizer of the index template also replaces NUL in patterns.
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
  // As an alternative, because OpenSearch looks up wrong n-grams for a plain escaped backslash in a `wildcard` field.
  if (code === 0x5c) return '(\\\\|\\\\)';
  const character = String.fromCodePoint(code);
  // Letters and digits are not escaped, because an escape changes their meaning.
  return code > 0x20 && code < 0x7f && !/[0-9A-Za-z]/.test(character) ? `\\${character}` : character;
}
