// Patterns as RE2 reads them: re2js in this process, VictoriaLogs in its own.
import type { Branch, Item, Pattern, Range } from './regex-dialect.ts';

/** Finds what the pattern finds; flags are left to the caller. `end`: what stands for the end of a line. */
export function toRE2({ branches }: Pattern, end = '$'): string {
  return branches.map((branch) => outermost(branch, end)).join('|');
}

/** The text as a pattern of itself. */
export function literal(text: string): string {
  return Array.from(text, (character) => escaped(character.codePointAt(0) ?? 0)).join('');
}

function outermost({ atStart, atEnd, items }: Branch, end: string): string {
  return `${atStart ? '^' : ''}${items.map(written).join('')}${atEnd ? end : ''}`;
}

function written(item: Item): string {
  switch (item.kind) {
    case 'character':
      return escaped(item.code);
    case 'any':
      return '.';
    case 'class':
      return `[${item.negated ? '^' : ''}${item.ranges.map(range).join('')}]`;
    case 'group':
      return `(?:${item.branches.map((items) => items.map(written).join('')).join('|')})`;
    default:
      return `(?:${written(item.item)})${times(item.min, item.max)}`;
  }
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
