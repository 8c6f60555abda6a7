// The regular expressions that callers may write: what every store's engine reads alike, and in linear time. Owns the
// syntax and its tree; how an engine writes it is the business of a printer (re2.ts, and those of the backends).
import type { AST } from '@eslint-community/regexpp';
import { ALL_CODES, complement, type Range, withoutOverlaps } from './code-ranges.ts';
import { parseRegex } from './regex-parser.ts';

export type Item =
  | { readonly kind: 'character'; readonly code: number }
  /** Everything but a newline. */
  | { readonly kind: 'any' }
  /** The ranges are ascending and do not overlap: for each of them engines look at all letters in it. */
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly Range[] }
  | { readonly kind: 'group'; readonly branches: readonly (readonly Item[])[] }
  /** Greedy. */
  | { readonly kind: 'repeat'; readonly item: Item; readonly min: number; readonly max: number };

/** One of the outermost alternatives; anchors stand nowhere else. */
export interface Branch {
  readonly atStart: boolean;
  readonly atEnd: boolean;
  readonly items: readonly Item[];
}

export interface Pattern {
  readonly branches: readonly Branch[];
}

/** RE2 refuses more repetitions, nested ones multiplied. */
const MAX_REPEAT = 1_000;
/** Engines write repetitions out, and take time for all of that at each character of a line. */
const MAX_SIZE = 1_000;

const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORDS: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACES: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
];

const RANGES = { digit: DIGITS, word: WORDS, space: SPACES } as const;
/** With what has a lower case in ASCII: were it in the complement, `s` and `k` would be so too where case is ignored. */
const WORDS_OF_ANY_CASE: readonly Range[] = [...WORDS, [0x17f, 0x17f], [0x212a, 0x212a]];

/** Throws an Error whose message says what is not a pattern, or not supported. */
export function parsePattern(text: string): Pattern {
  const { alternatives } = parseRegex(text);
  const branches = alternatives.map(branch);
  if (patternSize({ branches }) > MAX_SIZE) {
    throw new Error(`more than ${MAX_SIZE} characters, with its repetitions written out, are not supported`);
  }
  return { branches };
}

/** Characters and sets, with repetitions written out: what engines may have to do at each character of a line. */
export function patternSize({ branches }: Pattern): number {
  return sizeOf(branches.map(({ items }) => items));
}

function sizeOf(branches: readonly (readonly Item[])[]): number {
  return branches.reduce(
    (sum, items) =>
      sum +
      Math.max(
        1,
        items.reduce((size, each) => size + sizeOfItem(each), 0),
      ),
    0,
  );
}

function sizeOfItem(item: Item): number {
  if (item.kind === 'group') return sizeOf(item.branches);
  return item.kind === 'repeat' ? sizeOfItem(item.item) * timesOf(item) : 1;
}

function timesOf({ min, max }: { readonly min: number; readonly max: number }): number {
  return Math.max(1, max === Number.POSITIVE_INFINITY ? min : max);
}

function branch({ elements }: AST.Alternative): Branch {
  const [first, last] = [elements[0], elements.at(-1)];
  const atStart = first?.type === 'Assertion' && first.kind === 'start';
  const atEnd = last?.type === 'Assertion' && last.kind === 'end';
  const inner = elements.slice(atStart ? 1 : 0, atEnd ? -1 : undefined);
  return { atStart, atEnd, items: inner.map((element) => item(element, 1)) };
}

function item(element: AST.Element, repeats: number): Item {
  switch (element.type) {
    case 'Character':
      return { kind: 'character', code: element.value };
    case 'CharacterSet':
      if (element.kind === 'any') return { kind: 'any' };
      if (element.kind === 'property') return { kind: 'class', negated: false, ranges: setRanges(element) };
      return { kind: 'class', negated: element.negate, ranges: RANGES[element.kind] };
    case 'CharacterClass':
      return characterClass(element);
    case 'Group':
      if (element.modifiers) throw unsupported('a group with flags', element.raw);
      return group(element, repeats);
    case 'CapturingGroup':
      if (element.name !== null) throw unsupported('a group with a name', element.raw);
      return group(element, repeats);
    case 'Quantifier':
      return repeat(element, repeats);
    case 'Assertion':
      throw unsupported(assertionName(element), element.raw);
    case 'Backreference':
      throw unsupported('a reference to a group', element.raw);
    default:
      throw unsupported('this', element.raw);
  }
}

function assertionName({ kind }: AST.Assertion): string {
  if (kind === 'start' || kind === 'end') return 'an anchor within the pattern';
  return kind === 'word' ? 'a word boundary' : 'looking around';
}

function group({ alternatives }: AST.Group | AST.CapturingGroup, repeats: number): Item {
  const branches = alternatives.map(({ elements }) => elements.map((element) => item(element, repeats)));
  return { kind: 'group', branches };
}

function repeat({ element, min, max, greedy, raw }: AST.Quantifier, outer: number): Item {
  if (!greedy) throw unsupported('a lazy repetition', raw);
  const times = outer * timesOf({ min, max });
  if (times > MAX_REPEAT) throw unsupported(`repeating more than ${MAX_REPEAT} times`, raw);
  return { kind: 'repeat', item: item(element, times), min, max };
}

function characterClass(element: AST.CharacterClass): Item {
  const ranges = element.elements.flatMap((member): readonly Range[] => {
    if (member.type === 'Character') return [[member.value, member.value]];
    if (member.type === 'CharacterClassRange') return [[member.min.value, member.max.value]];
    if (member.type === 'CharacterSet') return setRanges(member);
    throw unsupported('a set within a set', member.raw);
  });
  if (ranges.length === 0) throw unsupported('an empty set', element.raw);
  return { kind: 'class', negated: element.negate, ranges: withoutOverlaps(ranges) };
}

function setRanges(set: AST.CharacterSet): readonly Range[] {
  if (set.kind === 'any') return [ALL_CODES];
  if (set.kind === 'property') throw unsupported('a Unicode property', set.raw);
  if (!set.negate) return RANGES[set.kind];
  return complement(set.kind === 'word' ? WORDS_OF_ANY_CASE : RANGES[set.kind]);
}

function unsupported(what: string, raw: string): Error {
  return new Error(`${what} (${raw.slice(0, 50)}) is not supported`);
}
