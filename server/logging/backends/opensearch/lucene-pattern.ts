// Patterns as Lucene's regular expressions read them: over the whole value, with a syntax of their own, and with
// `case_insensitive` for ASCII only. Every optional operator is off (flags NONE).

import { foldedCharacter, foldedRanges } from '../../matching/letter-case.ts';
import type { Branch, Item, Pattern, Range } from '../../matching/regex-dialect.ts';

/** What stands before and behind what was looked for; a newline at the end of a record is no part of its line. */
const ANYTHING = '.*';
const LINE_END = '\n?';

/** A pattern over the whole value that finds what the given one finds somewhere in it. */
export function somewhere({ branches }: Pattern, caseSensitive: boolean): string {
  return branches.map((branch) => outermost(branch, caseSensitive)).join('|');
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
    const text = (part: readonly Item[]) => part.map((item) => written(item, true)).join('');
    if (first === -1) return { lead: '', middle: sequence(items, true), tail: '' };
    return {
      lead: text(items.slice(0, first)),
      middle: text(items.slice(first, last)),
      tail: text(items.slice(last)),
    };
  });
}

function outermost({ atStart, atEnd, items }: Branch, caseSensitive: boolean): string {
  const inner = items.map((item) => written(item, caseSensitive)).join('');
  return `${atStart ? '' : ANYTHING}${inner}${atEnd ? LINE_END : ANYTHING}`;
}

function sequence(items: readonly Item[], caseSensitive: boolean): string {
  return items.length === 0 ? '()' : items.map((item) => written(item, caseSensitive)).join('');
}

function written(item: Item, caseSensitive: boolean): string {
  switch (item.kind) {
    case 'any':
      return '[^\n]';
    case 'class':
      return set(item.ranges, item.negated, caseSensitive);
    case 'group':
      return `(${item.branches.map((items) => sequence(items, caseSensitive)).join('|')})`;
    case 'repeat':
      return `(${written(item.item, caseSensitive)})${times(item.min, item.max)}`;
    default:
      return character(item.code, caseSensitive);
  }
}

function character(code: number, caseSensitive: boolean): string {
  // ASCII is left to the engine's own `case_insensitive`, which can look such letters up instead of reading all lines.
  if (caseSensitive || code < 0x80) return escaped(code);
  const forms = foldedCharacter(code);
  return forms.length === 1 ? escaped(code) : set(forms, false, true);
}

function set(ranges: readonly Range[], negated: boolean, caseSensitive: boolean): string {
  const members = (caseSensitive ? ranges : foldedRanges(ranges)).map(
    ([first, last]) => inSet(first) + (first === last ? '' : `-${inSet(last)}`),
  );
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
export function literal(text: string, caseSensitive = true): string {
  return Array.from(text, (letter) => character(letter.codePointAt(0) ?? 0, caseSensitive)).join('');
}

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
