// Patterns as Lucene's regular expressions read them: over the whole value, with a syntax of their own, and with
// `case_insensitive` for ASCII only. Every optional operator is off (flags NONE).
import type { Branch, Item, Pattern, Range } from '../../matching/regex-dialect.ts';
import { foldedCharacter, foldedRanges } from './letter-case.ts';

/** What stands before and behind what was looked for; a newline at the end of a record is no part of its line. */
const ANYTHING = '.*';
const LINE_END = '\n?';

/** A pattern over the whole value that finds what the given one finds somewhere in it. */
export function somewhere({ branches }: Pattern, caseSensitive: boolean): string {
  return branches.map((branch) => outermost(branch, caseSensitive)).join('|');
}

/** One of the outermost alternatives, over the whole value; `tail` is the group that it ends with, if it does. */
export interface Alternative {
  readonly head: string;
  readonly tail: string;
}

export function alternatives({ branches }: Pattern): Alternative[] {
  return branches.map(({ items }) => {
    const last = items.at(-1);
    const split = items.length > 1 && last?.kind === 'group' ? items.length - 1 : items.length;
    return {
      head: sequence(items.slice(0, split), true),
      tail: items
        .slice(split)
        .map((item) => written(item, true))
        .join(''),
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
    ([first, last]) => escaped(first) + (first === last ? '' : `-${escaped(last)}`),
  );
  return `[${negated ? '^' : ''}${members.join('')}]`;
}

function times(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : `{${min},}`;
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

/** The text as a pattern of itself. */
export function literal(text: string, caseSensitive = true): string {
  return Array.from(text, (letter) => character(letter.codePointAt(0) ?? 0, caseSensitive)).join('');
}

/** A backslash before letters and digits would mean something. */
function escaped(code: number): string {
  const character = String.fromCodePoint(code);
  return code > 0x20 && code < 0x7f && !/[0-9A-Za-z]/.test(character) ? `\\${character}` : character;
}
