// Syntax of regular expressions in the API: the subset that all stores interpret alike and match in linear time. This
// module contains the parser and the syntax tree; re2.ts and the stores convert the tree to the syntax of their
// engines.
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

/** RE2's maximum number of repetitions. The numbers of nested repetitions are multiplied. */
const MAX_REPEAT = 1_000;
/** Maximum of patternSize(). */
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
      if (element.name !== null) throw unsupported('a named group', element.raw);
      return group(element, repeats);
    case 'Quantifier':
      return repeat(element, repeats);
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

function group({ alternatives }: AST.Group | AST.CapturingGroup, repeats: number): Item {
  const branches = alternatives.map(({ elements }) => elements.map((element) => item(element, repeats)));
  return { kind: 'group', branches };
}

function repeat({ element, min, max, greedy, raw }: AST.Quantifier, outer: number): Item {
  if (!greedy) throw unsupported('a lazy repetition', raw);
  const times = outer * timesOf({ min, max });
  if (times > MAX_REPEAT) throw unsupported(`more than ${MAX_REPEAT} repetitions`, raw);
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
    throw new Error(SYNTAX_ERRORS[reason]?.(plain, error.index) ?? reason, { cause: error });
  }
}

/** Rewrites unnecessary escapes (`\-`, `\"`), which other dialects accept. */
function withNeededEscapes(text: string): string {
  return text.replaceAll(/\\([^])/g, (pair, character: string) =>
    /[ !"#%&',\-:;<=>@_`~]/.test(character) ? `\\x${character.charCodeAt(0).toString(16)}` : pair,
  );
}

/** Messages for the reasons of the library; `index` is its position. */
const SYNTAX_ERRORS: Readonly<Record<string, (text: string, index: number) => string>> = {
  'Invalid escape': (text, index) => {
    const [escape = ''] = /^\\.?/su.exec(text.slice(text.lastIndexOf('\\', index - 1))) ?? [];
    if (escape === '\\') return 'a backslash at the end escapes nothing; write \\\\ for the character';
    return /\d/.test(escape)
      ? `a backreference (${escape}) is not supported`
      : `the escape ${escape} is not supported`;
  },
  'Invalid group': (text, index) => {
    const [group = ''] = /^\([^)]{0,20}\)?/u.exec(text.slice(index - 1)) ?? [];
    if (/^\(\?P?[<']/.test(group)) return `a named group (${group}) is not supported`;
    if (/^\(\?[a-zA-Z-]+\)/.test(group)) {
      const cure = group.includes('i') ? '; use the parameter case' : '';
      return `flags in the pattern (${group}) are not supported${cure}`;
    }
    return `the group ${group} is not supported`;
  },
  'Lone quantifier brackets': (text, index) => {
    const [posix] = /\[:\w{1,10}:\]$/.exec(text.slice(0, index)) ?? [];
    return posix === undefined ? bracket() : `a named set (${posix}) is not supported`;
  },
  'Incomplete quantifier': bracket,
  'Invalid property name': () => 'a Unicode property (\\p) is not supported',
  'Invalid named reference': () => 'a backreference (\\k) is not supported',
  'Nothing to repeat': () => 'a repetition (*, +, ?, {m,n}) has nothing to repeat; write .* for any text',
};

function bracket(): string {
  return 'escape brackets that are characters: \\{, \\}, \\[, \\]';
}
