// Text filters evaluated in this process, for pod logs and highlights. Time is linear in the line: a pattern of a caller
// runs in RE2, and only literal words and texts run in the engine of JavaScript.
import { RE2JS } from 're2js';
import { wordsOf } from '../../../apis/logging/v1alpha2/text-search.ts';
import type { TextFilter } from '../log-store.ts';
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
export function lineMatcher({ mode, texts, caseSensitive }: TextFilter): LineMatcher {
  const matchers = texts.map((text) => {
    if (mode === 'regex') return patternMatcher(text, caseSensitive);
    return mode === 'substring'
      ? substringMatcher(text, caseSensitive)
      : phraseMatcher(text, mode, caseSensitive);
  });
  const [only] = matchers;
  if (only && matchers.length === 1) return only;
  return {
    matches: (line) => matchers.some((matcher) => matcher.matches(line)),
    spans: (line) => joined(merged(matchers.map((matcher) => matcher.spans(line)))),
  };
}

/** Steps of a pattern for one line: under a second in the worker thread. */
const MAX_STEPS = 40 << 20;
/** Steps on the main thread: some hundredths of a second. */
const MAX_STEPS_AT_ONCE = 1 << 20;
/** Characters on the main thread when words or a substring are searched. */
const MAX_LENGTH_AT_ONCE = 32 << 10;
/** Steps for one span, which takes the engine much longer than a test. */
const MAX_SPAN_STEPS = 1 << 20;

/** Characters of a line that are searched; Infinity unless the filter is a pattern. */
export function lookableLength(filter: TextFilter): number {
  return lengthWithin(MAX_STEPS, filter);
}

/** Characters of a line that may be searched on the main thread. */
export function lengthAtOnce(filter: TextFilter): number {
  return Math.min(MAX_LENGTH_AT_ONCE, lengthWithin(MAX_STEPS_AT_ONCE, filter));
}

/** Characters of a line in which spans are searched. */
export function searchableLength(filter: TextFilter): number {
  return lengthWithin(MAX_SPAN_STEPS, filter);
}

function lengthWithin(steps: number, { mode, texts }: TextFilter): number {
  if (mode !== 'regex') return Number.POSITIVE_INFINITY;
  const size = texts.reduce((sum, text) => sum + patternSize(parsePattern(text)), 0);
  return Math.floor(steps / Math.max(1, size));
}

/** Length up to which `includes` is faster for any content; for some longer lines it takes 20 ns per character. */
const SHORT_LINE = 8_192;

function substringMatcher(text: string, caseSensitive: boolean): LineMatcher {
  // The empty group keeps V8 from the search that `includes` uses.
  const pattern = new RegExp(`(?:)${escaped(text)}`, flagsOf(caseSensitive));
  const isFast = (line: string): boolean => caseSensitive && line.length <= SHORT_LINE;
  return {
    matches: (line) => (isFast(line) ? line.includes(text) : line.search(pattern) !== -1),
    spans: (line) => spansOf(pattern, line),
  };
}

const WORD = '[\\p{L}\\p{N}_]';
const SEPARATORS = '[^\\p{L}\\p{N}_]+';

/**
 * Words next to each other. Separators and words are disjoint, so the engine never revisits a word: linear time, times
 * the number of words of the text.
 */
function phraseMatcher(text: string, mode: 'phrase' | 'prefix', caseSensitive: boolean): LineMatcher {
  const words = wordsOf(text);
  if (words.length === 0) return { matches: () => false, spans: () => [] };
  const end = mode === 'prefix' ? `${WORD}*` : `(?!${WORD})`;
  const pattern = new RegExp(
    `(?<!${WORD})${words.map(escaped).join(SEPARATORS)}${end}`,
    flagsOf(caseSensitive),
  );
  const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
  const prefilter = substringMatcher(longest, caseSensitive);
  return {
    matches: (line) => prefilter.matches(line) && line.search(pattern) !== -1,
    spans: (line) => (prefilter.matches(line) ? spansOf(pattern, line) : []),
  };
}

function patternMatcher(text: string, caseSensitive: boolean): LineMatcher {
  const ignoreCase = !caseSensitive;
  const flags = ignoreCase ? RE2JS.CASE_INSENSITIVE : 0;
  const pattern = RE2JS.compile(toRE2(parsePattern(text), { ignoreCase }), flags);
  return {
    matches: (line) => pattern.test(line),
    *spans(line) {
      const matcher = pattern.matcher(line);
      while (matcher.find()) if (matcher.start() < matcher.end()) yield [matcher.start(), matcher.end()];
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&');
}

function flagsOf(caseSensitive: boolean): string {
  return caseSensitive ? 'gu' : 'giu';
}

function* spansOf(pattern: RegExp, line: string): Generator<Span, void, undefined> {
  for (const { index, 0: text } of line.matchAll(pattern)) {
    if (text.length > 0) yield [index, index + text.length];
  }
}

/** Merges lists of ascending spans by their beginning. */
function* merged(lists: readonly Iterable<Span>[]): Generator<Span, void, undefined> {
  const heads = lists.flatMap((list) => {
    const spans = list[Symbol.iterator]();
    const first = spans.next();
    return first.done === true ? [] : [{ spans, span: first.value }];
  });
  for (;;) {
    let next = heads[0];
    if (!next) return;
    for (const head of heads) if (head.span[0] < next.span[0]) next = head;
    yield next.span;
    const following = next.spans.next();
    if (following.done === true) heads.splice(heads.indexOf(next), 1);
    else next.span = following.value;
  }
}

/** Joins overlapping spans. */
function* joined(spans: Iterable<Span>): Generator<Span, void, undefined> {
  let last: Span | undefined;
  for (const span of spans) {
    if (last && span[0] < last[1]) last = [last[0], Math.max(last[1], span[1])];
    else {
      if (last) yield last;
      last = span;
    }
  }
  if (last) yield last;
}
