// Patterns as RE2 reads them: re2js in this process, VictoriaLogs in its own.
import type { Range } from './code-ranges.ts';
import { foldedRanges } from './letter-case.ts';
import type { Branch, Item, Pattern } from './regex-dialect.ts';

export interface RE2Options {
  /**
   * Whether case is ignored, for which the caller sets the flag. Sets do without it: engines look at each letter of each
   * range for its other forms, in milliseconds for a wide one, of which a pattern has room for hundreds.
   */
  readonly ignoreCase: boolean;
  /** What stands for the end of a line. */
  readonly end?: string;
}

/** Finds what the pattern finds. */
export function toRE2({ branches }: Pattern, { ignoreCase, end = '$' }: RE2Options): string {
  return branches.map((branch) => outermost(branch, ignoreCase, end)).join('|');
}

/** The text as a pattern of itself. */
export function literal(text: string): string {
  return Array.from(text, (character) => escaped(character.codePointAt(0) ?? 0)).join('');
}

function outermost({ atStart, atEnd, items }: Branch, ignoreCase: boolean, end: string): string {
  return `${atStart ? '^' : ''}${sequence(items, ignoreCase)}${atEnd ? end : ''}`;
}

function sequence(items: readonly Item[], ignoreCase: boolean): string {
  return items.map((item) => written(item, ignoreCase)).join('');
}

function written(item: Item, ignoreCase: boolean): string {
  switch (item.kind) {
    case 'character':
      return escaped(item.code);
    case 'any':
      return '.';
    case 'class':
      return ignoreCase
        ? `(?-i:${set(foldedRanges(item.ranges), item.negated)})`
        : set(item.ranges, item.negated);
    case 'group':
      return `(?:${item.branches.map((items) => sequence(items, ignoreCase)).join('|')})`;
    default:
      return `(?:${written(item.item, ignoreCase)})${times(item.min, item.max)}`;
  }
}

function set(ranges: readonly Range[], negated: boolean): string {
  return `[${negated ? '^' : ''}${ranges.map(range).join('')}]`;
}

function range([first, last]: Range): string {
  return first === last ? escaped(first) : `${escaped(first)}-${escaped(last)}`;
}

function times(min: number, max: number): string {
  if (min === max) return `{${min}}`;
  return `{${min},${max === Number.POSITIVE_INFINITY ? '' : max}}`;
}

/** Letters, digits and whatever is not ASCII stand for themselves; everything else is written by its number. */
export function escaped(code: number): string {
  const character = String.fromCodePoint(code);
  if (/^[0-9A-Za-z]$/.test(character) || (code > 0x9f && !isSurrogate(code))) return character;
  return `\\x{${code.toString(16)}}`;
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
