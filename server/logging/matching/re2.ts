// Converter from the regular expressions of log queries to RE2 syntax, for re2js and VictoriaLogs.

import type { TextFilter } from '../store/log-store.ts';
import { foldedRanges, type Range } from './character-ranges.ts';
import { type Branch, type Item, type Pattern, parsePattern } from './regex-dialect.ts';

export interface RE2Options {
  /**
   * Whether case is ignored. The caller sets the flag of the engine. Only sets are folded here, because engines take
   * milliseconds to fold a wide range.
   */
  readonly ignoreCase: boolean;
  /** Expression for the end of a line. */
  readonly end?: string;
}

export function toRE2({ branches }: Pattern, { ignoreCase, end = '$' }: RE2Options): string {
  return branches.map((branch) => printBranch(branch, ignoreCase, end)).join('|');
}

export interface PatternFilter extends Omit<TextFilter, 'mode'> {
  readonly mode: 'substring' | 'regex';
}

/** End of a line. A store may keep the newlines at the end of the line. */
const LINE_END = '\\x{a}*$';

/** One pattern for all texts of a filter, for stores that search by patterns. Throws the errors of parsePattern(). */
export function linePattern({ mode, texts, caseSensitive }: PatternFilter): string {
  const patterns = texts.map((text) =>
    mode === 'regex'
      ? toRE2(parsePattern(text), { ignoreCase: !caseSensitive, end: LINE_END })
      : literal(text),
  );
  return `${caseSensitive ? '' : '(?i)'}(?:${patterns.join('|')})`;
}

/** The pattern that matches the text itself. */
export function literal(text: string): string {
  return Array.from(text, (character) => escaped(character.codePointAt(0) ?? 0)).join('');
}

function printBranch({ atStart, atEnd, items }: Branch, ignoreCase: boolean, end: string): string {
  return `${atStart ? '^' : ''}${sequence(items, ignoreCase)}${atEnd ? end : ''}`;
}

function sequence(items: readonly Item[], ignoreCase: boolean): string {
  return items.map((item) => printItem(item, ignoreCase)).join('');
}

function printItem(item: Item, ignoreCase: boolean): string {
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
      return `(?:${printItem(item.item, ignoreCase)})${times(item.min, item.max)}`;
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

/** Letters, digits and characters beyond ASCII stay as they are; others are printed by code point. */
function escaped(code: number): string {
  const character = String.fromCodePoint(code);
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (/^[0-9A-Za-z]$/.test(character) || (code > 0x9f && !isSurrogate)) return character;
  return `\\x{${code.toString(16)}}`;
}
