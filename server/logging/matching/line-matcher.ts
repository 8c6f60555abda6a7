// Text filters for log lines, evaluated in this process. Matching takes linear time in the length of the line.
import { RE2JS } from 're2js';
import { wordsOf } from '../../../apis/logging/v1alpha2/log-query-validation.ts';
import type { TextFilter } from '../store/log-store.ts';
import { toRE2 } from './re2.ts';
import { parsePattern, patternSize } from './regex-dialect.ts';

/** Begin, and end exclusive, in UTF-16 code units. */
export type Span = readonly [begin: number, end: number];

export interface LineMatcher {
  matches(line: string): boolean;
  /**
   * Ascending and without overlaps. Lazy: a pattern may scan the rest of the line for each short match, so that all
   * matches of a line may take quadratic time.
   */
  spans(line: string): Iterable<Span>;
}

/** Throws the errors of parsePattern(). A text without words matches nothing in the modes `phrase` and `prefix`. */
export function lineMatcher(filter: TextFilter): LineMatcher {
  if (filter.mode === 'regex') return patternMatcher(filter);
  return filter.mode === 'substring' ? substringMatcher(filter) : phraseMatcher(filter, filter.mode);
}

/** Maximum number of steps of a pattern for one line in the worker thread: less than a second. */
const MAX_STEPS = 40 << 20;
/** Maximum number of steps on the main thread: some hundredths of a second. */
const MAX_STEPS_AT_ONCE = 1 << 20;
/** Maximum number of characters on the main thread in the search for words or a substring. */
const MAX_LENGTH_AT_ONCE = 32 << 10;
/** Maximum number of steps for one span; finding a span takes the engine much longer than a test. */
const MAX_SPAN_STEPS = 1 << 20;

/** Maximum number of characters of a line that are matched; Infinity unless the filter is a pattern. */
export function maxLineLength(filter: TextFilter): number {
  return lengthWithin(MAX_STEPS, filter);
}

/** Maximum number of characters of a line that are matched on the main thread. */
export function maxMainThreadLength(filter: TextFilter): number {
  return Math.min(MAX_LENGTH_AT_ONCE, lengthWithin(MAX_STEPS_AT_ONCE, filter));
}

/** Maximum number of characters of a line in which spans are searched. */
export function maxSpanLength(filter: TextFilter): number {
  return lengthWithin(MAX_SPAN_STEPS, filter);
}

function lengthWithin(steps: number, { mode, texts }: TextFilter): number {
  if (mode !== 'regex') return Number.POSITIVE_INFINITY;
  const size = texts.reduce((sum, text) => sum + patternSize(parsePattern(text)), 0);
  return Math.floor(steps / Math.max(1, size));
}

function substringMatcher({ texts, caseSensitive }: TextFilter): LineMatcher {
  const alternatives = texts.map((text) => RegExp.escape(text)).join('|');
  return literalMatcher(alternatives, caseSensitive);
}

const WORD = '[\\p{L}\\p{N}_]';
const SEPARATORS = '[^\\p{L}\\p{N}_]+';

/**
 * Words next to each other. Separators and words are disjoint, so the engine never revisits a word: linear time, times
 * the number of words of the texts.
 */
function phraseMatcher({ texts, caseSensitive }: TextFilter, mode: 'phrase' | 'prefix'): LineMatcher {
  const phrases = texts.map(wordsOf).filter((words) => words.length > 0);
  if (phrases.length === 0) return { matches: () => false, spans: () => [] };
  const alternatives = phrases.map((words) => words.map((word) => RegExp.escape(word)).join(SEPARATORS));
  const end = mode === 'prefix' ? `${WORD}*` : `(?!${WORD})`;
  return literalMatcher(`(?<!${WORD})(?:${alternatives.join('|')})${end}`, caseSensitive);
}

function literalMatcher(source: string, caseSensitive: boolean): LineMatcher {
  // The empty group prevents V8 from using the algorithm of `includes`, which is slow for some lines.
  const pattern = new RegExp(`(?:)(?:${source})`, caseSensitive ? 'gu' : 'giu');
  return {
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
  const ignoreCase = !caseSensitive;
  const alternatives = texts.map((text) => `(?:${toRE2(parsePattern(text), { ignoreCase })})`);
  const pattern = RE2JS.compile(alternatives.join('|'), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  return {
    matches: (line) => pattern.test(line),
    *spans(line) {
      const matcher = pattern.matcher(line);
      while (matcher.find()) if (matcher.start() < matcher.end()) yield [matcher.start(), matcher.end()];
    },
  };
}
