// Parser of the regular expressions in log queries. Only syntax that all log stores match alike, and in linear time,
// is allowed.
import { type AST, RegExpParser, RegExpSyntaxError } from '@eslint-community/regexpp';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { ALL_CODES, complement, type Range, union } from './character-ranges.ts';

export type Item =
  | { readonly kind: 'character'; readonly code: number }
  /** Any character except a newline. */
  | { readonly kind: 'any' }
  /** The ranges are ascending and do not overlap. */
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly Range[] }
  | { readonly kind: 'group'; readonly branches: readonly (readonly Item[])[] }
  /** Greedy. */
  | { readonly kind: 'repeat'; readonly item: Item; readonly min: number; readonly max: number };

/** An alternative of the whole pattern. Anchors are allowed at its ends only. */
export interface Branch {
  readonly atStart: boolean;
  readonly atEnd: boolean;
  readonly items: readonly Item[];
}

export interface Pattern {
  readonly branches: readonly Branch[];
}

/** Maximum of patternSize(). RE2 has the same limit for nested repetitions, which are a part of the size. */
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
/** With ſ and the Kelvin sign, which fold to ASCII: otherwise `\W` would match `s` and `k` when case is ignored. */
const WORDS_OF_ANY_CASE: readonly Range[] = [...WORDS, [0x17f, 0x17f], [0x212a, 0x212a]];

/** Throws an Error whose message contains the invalid or unsupported part. */
export function parsePattern(text: string): Pattern {
  const { alternatives } = parseRegex(text);
  const branches = alternatives.map(branch);
  if (patternSize({ branches }) > MAX_SIZE) {
    throw new Error(`more than ${MAX_SIZE} characters after expansion of repetitions are not supported`);
  }
  return { branches };
}

/** Validation error of a pattern; undefined if it is valid. */
export function patternError(text: string): string | undefined {
  try {
    parsePattern(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Number of characters and sets after expansion of repetitions: the maximum steps of an engine per character of a line. */
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
  if (item.kind !== 'repeat') return 1;
  const times = item.max === Number.POSITIVE_INFINITY ? item.min : item.max;
  return sizeOfItem(item.item) * Math.max(1, times);
}

function branch({ elements }: AST.Alternative): Branch {
  const [first, last] = [elements[0], elements.at(-1)];
  const atStart = first?.type === 'Assertion' && first.kind === 'start';
  const atEnd = last?.type === 'Assertion' && last.kind === 'end';
  const inner = elements.slice(atStart ? 1 : 0, atEnd ? -1 : undefined);
  return { atStart, atEnd, items: inner.map(item) };
}

function item(element: AST.Element): Item {
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
      return group(element);
    case 'CapturingGroup':
      if (element.name !== null) throw unsupported('a named group', element.raw);
      return group(element);
    case 'Quantifier':
      return repeat(element);
    case 'Assertion':
      throw unsupported(assertionName(element), element.raw);
    case 'Backreference':
      throw unsupported('a backreference', element.raw);
    default:
      throw unsupported('this', element.raw);
  }
}

function assertionName({ kind }: AST.Assertion): string {
  if (kind === 'start' || kind === 'end') return 'an anchor within the pattern';
  return kind === 'word' ? 'a word boundary' : 'lookaround';
}

function group({ alternatives }: AST.Group | AST.CapturingGroup): Item {
  const branches = alternatives.map(({ elements }) => elements.map(item));
  return { kind: 'group', branches };
}

function repeat({ element, min, max, greedy, raw }: AST.Quantifier): Item {
  if (!greedy) throw unsupported('a lazy repetition', raw);
  return { kind: 'repeat', item: item(element), min, max };
}

function characterClass(element: AST.CharacterClass): Item {
  const ranges = element.elements.flatMap((member): readonly Range[] => {
    if (member.type === 'Character') return [[member.value, member.value]];
    if (member.type === 'CharacterClassRange') return [[member.min.value, member.max.value]];
    if (member.type === 'CharacterSet') return setRanges(member);
    throw unsupported('a set within a set', member.raw);
  });
  if (ranges.length === 0) throw unsupported('an empty set', element.raw);
  return { kind: 'class', negated: element.negate, ranges: union(ranges) };
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

function parseRegex(text: string): AST.Pattern {
  const plain = withNeededEscapes(text);
  try {
    return new RegExpParser().parsePattern(plain, 0, plain.length, { unicode: true });
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    // The library puts the whole pattern before the reason.
    const reason = error.message.slice(error.message.lastIndexOf(': ') + 2);
    const part = plain.slice(Math.max(0, error.index - 4), error.index + 8);
    throw new Error(`${reason} near "${part}"`, {
      cause: error,
    });
  }
}

/** Rewrites unnecessary escapes (`\-`, `\"`), which other dialects accept. */
function withNeededEscapes(text: string): string {
  return text.replaceAll(/\\([^])/g, (pair, character: string) =>
    /[ !"#%&',\-:;<=>@_`~]/.test(character) ? `\\x${character.charCodeAt(0).toString(16)}` : pair,
  );
}
