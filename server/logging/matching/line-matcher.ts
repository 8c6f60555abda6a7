// Text filters for log lines, evaluated in this process. Matching takes linear time in the length of the line.
import { RE2JS } from 're2js';
import { wordsOf } from '../../../apis/logging/v1alpha2/log-query-validation.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import type { TextFilter } from '../store/log-store.ts';

/** Begin, and end exclusive, in UTF-16 code units. */
export type Span = readonly [begin: number, end: number];

export interface LineMatcher {
  /** Maximum number of characters that `matches` can search without blocking the event loop: some hundredths of a second. */
  readonly maxLength: number;
  matches(line: string): boolean;
  /**
   * Ascending and without overlaps. Lazy: a pattern may scan the rest of the line for each short match, so that all
   * matches of a line may take quadratic time.
   */
  spans(line: string): Iterable<Span>;
}

/** A regular expression that RE2 does not support, or that takes too long to compile. */
export class PatternError extends Error {}

/** Throws PatternError. A text without words matches nothing in the modes `phrase` and `prefix`. */
export function lineMatcher(filter: TextFilter): LineMatcher {
  if (filter.mode === 'regex') return patternMatcher(filter);
  return filter.mode === 'substring' ? substringMatcher(filter) : phraseMatcher(filter, filter.mode);
}

const MAX_PATTERN_LENGTH = 300;
/** The end of a range of characters, such as `ÿ` in `a-ÿ`, if it is not ASCII. */
const RANGE_END = /-(?:([^\p{ASCII}])|\\x\{([0-9A-Fa-f]+))/gu;
/** The last character that has several cases. */
const LAST_FOLDED = 0x1e943;
/** Maximum number of characters in all ranges. Where the case is ignored, RE2JS looks up each of them: 80 ns. */
const MAX_RANGED = 1 << 18;
/** Maximum number of steps for one line: instructions of the compiled expression, times characters. */
const MAX_STEPS = 1 << 20;
/** Maximum number of characters for a substring, whose characters can be compared at each position. */
const MAX_LITERAL_LENGTH = 32 << 10;
/** Maximum number of characters for words, times the number of the words: a line of 1 MiB for eight words. */
const MAX_WORD_STEPS = 8 << 20;

function substringMatcher({ texts, caseSensitive }: TextFilter): LineMatcher {
  const alternatives = texts.map((text) => RegExp.escape(text)).join('|');
  return literalMatcher(alternatives, caseSensitive, MAX_LITERAL_LENGTH);
}

const WORD = '[\\p{L}\\p{N}_]';
const SEPARATORS = '[^\\p{L}\\p{N}_]+';

/**
 * Words next to each other. Separators and words are disjoint, so the engine never revisits a word: linear time, times
 * the number of words of the texts.
 */
function phraseMatcher({ texts, caseSensitive }: TextFilter, mode: 'phrase' | 'prefix'): LineMatcher {
  const phrases = texts.map(wordsOf).filter((words) => words.length > 0);
  if (phrases.length === 0) {
    return { maxLength: Number.POSITIVE_INFINITY, matches: () => false, spans: () => [] };
  }
  const alternatives = phrases.map((words) => words.map((word) => RegExp.escape(word)).join(SEPARATORS));
  const end = mode === 'prefix' ? `${WORD}*` : `(?!${WORD})`;
  const maxLength = Math.floor(MAX_WORD_STEPS / phrases.flat().length);
  return literalMatcher(`(?<!${WORD})(?:${alternatives.join('|')})${end}`, caseSensitive, maxLength);
}

function literalMatcher(source: string, caseSensitive: boolean, maxLength: number): LineMatcher {
  // The empty group prevents V8 from using the algorithm of `includes`, which is slow for some lines.
  const pattern = new RegExp(`(?:)(?:${source})`, caseSensitive ? 'gu' : 'giu');
  return {
    maxLength,
    matches: (line) => line.search(pattern) !== -1,
    *spans(line) {
      for (const { index, 0: text } of line.matchAll(pattern)) {
        if (text.length > 0) yield [index, index + text.length];
      }
    },
  };
}

/** RE2 runs the regular expressions of callers; JavaScript's engine only searches for literal words and texts. */
function patternMatcher({ texts, caseSensitive }: TextFilter): LineMatcher {
  const pattern = compiled(texts, caseSensitive);
  return {
    maxLength: Math.min(MAX_LITERAL_LENGTH, Math.floor(MAX_STEPS / pattern.programSize())),
    matches: (line) => pattern.test(line),
    *spans(line) {
      const matcher = pattern.matcher(line);
      while (matcher.find()) if (matcher.start() < matcher.end()) yield [matcher.start(), matcher.end()];
    },
  };
}

/** Instructions of the compiled expression. An engine needs up to one step of each for a character. Throws PatternError. */
export function programSizeOf({ texts, caseSensitive }: TextFilter): number {
  return compiled(texts, caseSensitive).programSize();
}

function compiled(patterns: readonly string[], caseSensitive: boolean): RE2JS {
  if (patterns.join('').length > MAX_PATTERN_LENGTH) {
    throw new PatternError(`regular expressions of more than ${MAX_PATTERN_LENGTH} characters`);
  }
  if (rangedIn(patterns.join('\n')) > MAX_RANGED) {
    throw new PatternError('regular expressions with ranges of too many characters');
  }
  try {
    // Each alone: `a)(b` is invalid, but would be valid in a group.
    if (patterns.length > 1) for (const each of patterns) RE2JS.compile(each);
    const pattern = patterns.length > 1 ? patterns.map((each) => `(?:${each})`).join('|') : patterns.join('');
    return RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    // RE2JS quotes the expression with the flag of CASE_INSENSITIVE.
    const reason = messageOf(error).replace('error parsing regexp: ', '').replace('`(?i)', '`');
    throw new PatternError(`the regular expression is invalid: ${reason}`, { cause: error });
  }
}

/** Upper bound for the number of characters in the ranges of an expression, without ranges of ASCII characters. */
function rangedIn(pattern: string): number {
  let sum = 0;
  for (const [, character = '', code = '0'] of pattern.matchAll(RANGE_END)) {
    sum += Math.min(character.codePointAt(0) ?? Number.parseInt(code, 16), LAST_FOLDED);
  }
  return sum;
}
