// Patterns as Lucene's regular expressions read them: over the whole value, with a syntax of their own, and with a
// `case_insensitive` that knows ASCII only up to Lucene 9. Every optional operator is off (flags NONE).
import { foldedCharacter, foldedRanges, type Range } from '../../../matching/character-ranges.ts';
import type { Branch, Item, Pattern } from '../../../matching/regex-dialect.ts';

/** What stands before and behind what was looked for; newlines at the end of a record are no part of its line. */
const ANYTHING = '.*';
const LINE_END = '\n*';

export interface LucenePattern {
  readonly value: string;
  /** Whether the engine has to ignore the case of ASCII letters. */
  readonly ignoreCase: boolean;
}

/**
 * Who ignores case: nobody, the engine for ASCII, or the pattern, by sets of letters. The engine can look letters up
 * instead of reading all lines; but that of Lucene 10 takes `ı` and `İ` for `i`, so it must not be asked about those.
 */
type Folding = 'none' | 'engine' | 'written';

const APART: ReadonlySet<number> = new Set([0x130, 0x131]);

/** A pattern over the whole value that finds what the given one finds somewhere in it. */
export function somewhere(pattern: Pattern, caseSensitive: boolean): LucenePattern {
  const apart = pattern.branches.some(({ items }) => items.some(isApart));
  const folding = caseSensitive ? 'none' : apart ? 'written' : 'engine';
  const value = pattern.branches.map((branch) => outermost(branch, folding)).join('|');
  return { value, ignoreCase: folding === 'engine' };
}

/** Whether it names one of those letters. */
function isApart(item: Item): boolean {
  switch (item.kind) {
    case 'character':
      return APART.has(item.code);
    case 'class':
      return item.ranges.some(([first, last]) => first === last && APART.has(first));
    case 'group':
      return item.branches.some((items) => items.some(isApart));
    case 'repeat':
      return isApart(item.item);
    default:
      return false;
  }
}

/** One of the outermost alternatives, over the whole value: what many of them share at their ends, and what not. */
export interface Alternative {
  readonly lead: string;
  readonly middle: string;
  readonly tail: string;
}

export function alternatives({ branches }: Pattern): Alternative[] {
  return branches.map(({ items }) => {
    const isOwn = (item: Item) => item.kind !== 'repeat' && item.kind !== 'group';
    const first = items.findIndex(isOwn);
    const last = items.findLastIndex(isOwn) + 1;
    const text = (part: readonly Item[]) => part.map((item) => written(item, 'none')).join('');
    if (first === -1) return { lead: '', middle: sequence(items, 'none'), tail: '' };
    return {
      lead: text(items.slice(0, first)),
      middle: text(items.slice(first, last)),
      tail: text(items.slice(last)),
    };
  });
}

function outermost({ atStart, atEnd, items }: Branch, folding: Folding): string {
  const inner = items.map((item) => written(item, folding)).join('');
  return `${atStart ? '' : ANYTHING}${inner}${atEnd ? LINE_END : ANYTHING}`;
}

function sequence(items: readonly Item[], folding: Folding): string {
  return items.length === 0 ? '()' : items.map((item) => written(item, folding)).join('');
}

function written(item: Item, folding: Folding): string {
  switch (item.kind) {
    case 'any':
      return '[^\n]';
    case 'class':
      return set(item.ranges, item.negated, folding);
    case 'group':
      return `(${item.branches.map((items) => sequence(items, folding)).join('|')})`;
    case 'repeat':
      return `(${written(item.item, folding)})${times(item.min, item.max)}`;
    default:
      return character(item.code, folding);
  }
}

function character(code: number, folding: Folding): string {
  if (folding === 'none' || (folding === 'engine' && code < 0x80)) return escaped(code);
  const forms = foldedCharacter(code);
  return forms.length === 1 ? escaped(code) : set(forms, false, 'none');
}

function set(ranges: readonly Range[], negated: boolean, folding: Folding): string {
  const members = (folding === 'none' ? ranges : foldedRanges(ranges)).map(member);
  return `[${negated ? '^' : ''}${members.join('')}]`;
}

function times(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : `{${min},}`;
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

export function isLiteral({ branches }: Pattern): boolean {
  return (
    branches.length === 1 && branches.every(({ items }) => items.every(({ kind }) => kind === 'character'))
  );
}

/** The text as a pattern of itself. */
export function literal(text: string, folding: Folding = 'none'): string {
  return Array.from(text, (letter) => character(letter.codePointAt(0) ?? 0, folding)).join('');
}

/** The text, somewhere in the value. */
export function literalSomewhere(text: string, caseSensitive: boolean): LucenePattern {
  const folding = caseSensitive ? 'none' : isFoldedByEngine(text) ? 'engine' : 'written';
  return { value: `.*${literal(text, folding)}.*`, ignoreCase: folding === 'engine' };
}

/** The text, whatever the case of its ASCII letters, without the engine's help. */
export function literalOfAnyCase(text: string): string {
  return Array.from(text, (letter) =>
    /[A-Za-z]/.test(letter) ? `[${letter.toUpperCase()}${letter.toLowerCase()}]` : literal(letter),
  ).join('');
}

/** Whether the engine can be asked to ignore the case of its letters. */
export function isFoldedByEngine(text: string): boolean {
  return !/[\u0130\u0131]/.test(text);
}

function member([first, last]: Range): string {
  if (first === last) return inSet(first);
  return STAND_ALONE.has(first)
    ? inSet(first) + member([first + 1, last])
    : `${String.fromCodePoint(first)}-${inSet(last)}`;
}

/**
 * What begins no range: what is escaped, which are `-`, `[`, `\`, `]` and `^`, to Lucene 10; and NUL, for which the
 * normalizer of the recommended index template puts another character, also in patterns.
 */
const STAND_ALONE: ReadonlySet<number> = new Set([0, 0x2d, 0x5b, 0x5c, 0x5d, 0x5e]);

function inSet(code: number): string {
  return code === 0x5c ? '\\\\' : escaped(code);
}

/** A backslash before letters and digits would mean something. */
function escaped(code: number): string {
  // Where a field of type wildcard is asked for an escaped one, OpenSearch looks up the wrong letters beside it; for
  // alternatives it looks up none.
  if (code === 0x5c) return '(\\\\|\\\\)';
  const character = String.fromCodePoint(code);
  return code > 0x20 && code < 0x7f && !/[0-9A-Za-z]/.test(character) ? `\\${character}` : character;
}
