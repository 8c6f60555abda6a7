// Tells in this process whether a line says what a text filter asks for, and where. Linear in the line: a caller's
// regular expression runs in RE2, and only literals of it in the engine of JavaScript.
import { RE2JS } from 're2js';
import type { TextFilter } from '../log-store.ts';
import { folded } from './letter-case.ts';
import { toRE2 } from './re2.ts';
import { parsePattern, patternSize } from './regex-dialect.ts';
import { type Span, wordSpans, wordsOf } from './words.ts';

export interface LineMatcher {
  matches(line: string): boolean;
  /**
   * Ascending, without overlaps; UTF-16 code units. Each is looked for when it is asked for: a pattern may look at all the
   * rest of the line before it finds a short span, so that all spans of a line may take the square of its length.
   */
  spans(line: string): Iterable<Span>;
}

/** Throws what parsePattern throws; a text without words finds nothing in the modes that look for words. */
export function lineMatcher(filter: TextFilter): LineMatcher {
  const { mode, texts, caseSensitive } = filter;
  if (mode === 'phrase' || mode === 'prefix') return phrasesMatcher(filter);
  const newMatcher = mode === 'regex' ? patternMatcher : substringMatcher;
  const matchers = texts.map((text) => newMatcher(text, caseSensitive));
  const [only] = matchers;
  if (only && matchers.length === 1) return only;
  return {
    matches: (line) => matchers.some((matcher) => matcher.matches(line)),
    spans: (line) => joined(merged(matchers.map((matcher) => matcher.spans(line)))),
  };
}

/** Less than a second of them. */
const MAX_STEPS = 40 << 20;

/** Some hundredths of a second of them, which is what everybody else may wait for. */
const MAX_STEPS_AT_ONCE = 1 << 20;
/** The same for words and texts, in characters. */
const MAX_LENGTH_AT_ONCE = 32 << 10;

/** Finding a span takes the engine many times longer than finding out that there is one: some hundredths of a second. */
const MAX_SPAN_STEPS = 1 << 20;

/**
 * Characters of a line that can be looked at, whatever they are: patterns take time for all that they are made of at each.
 * Infinity where that is no matter.
 */
export function lookableLength(filter: TextFilter): number {
  return lengthWithin(MAX_STEPS, filter);
}

/** The same where nothing else runs meanwhile. */
export function lengthAtOnce(filter: TextFilter): number {
  return Math.min(MAX_LENGTH_AT_ONCE, lengthWithin(MAX_STEPS_AT_ONCE, filter));
}

/** The same for finding one span. */
export function searchableLength(filter: TextFilter): number {
  return lengthWithin(MAX_SPAN_STEPS, filter);
}

function lengthWithin(steps: number, { mode, texts }: TextFilter): number {
  if (mode !== 'regex') return Number.POSITIVE_INFINITY;
  const size = texts.reduce((sum, text) => sum + patternSize(parsePattern(text)), 0);
  return Math.floor(steps / Math.max(1, size));
}

/** Of lines in which `includes` is quicker, whatever they say; in others it may take 20 ns for each character. */
const SHORT_LINE = 8_192;

function substringMatcher(text: string, caseSensitive: boolean): LineMatcher {
  const found = literalIn(text, caseSensitive);
  const isQuick = (line: string): boolean => caseSensitive && line.length <= SHORT_LINE;
  return {
    matches: (line) => (isQuick(line) ? line.includes(text) : line.search(found) !== -1),
    spans: (line) => Array.from(line.matchAll(found), spanOf).filter(([begin, end]) => begin < end),
  };
}

function spanOf({ index, 0: text }: RegExpExecArray): Span {
  return [index, index + text.length];
}

/** Without the empty group, V8 would look for the text as `includes` does. */
function literalIn(text: string, caseSensitive: boolean): RegExp {
  return new RegExp(`(?:)${text.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&')}`, caseSensitive ? 'gu' : 'giu');
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

/** A text in words, of which the last one may go on. */
class Phrase {
  readonly #head: readonly string[];
  readonly #last: string;
  readonly #goesOn: boolean;
  readonly #borders: readonly number[];
  /** Most lines do not even contain the characters, and need not be split into words. */
  readonly #longest: LineMatcher;

  /** `words`: as they are compared, at least one. */
  constructor(words: readonly string[], goesOn: boolean, caseSensitive: boolean) {
    const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
    this.#head = words.slice(0, -1);
    this.#last = words.at(-1) ?? '';
    this.#goesOn = goesOn;
    this.#borders = bordersOf(this.#head);
    this.#longest = substringMatcher(longest, caseSensitive);
  }

  /** Of a span, besides the one that it ends with. */
  get wordsBefore(): number {
    return this.#head.length;
  }

  mayBeIn(line: string): boolean {
    return this.#longest.matches(line);
  }

  /**
   * Takes the words of a line, one after the other, and tells whether the phrase ends there. Each is looked at a few
   * times at most, however often the wanted ones repeat themselves.
   */
  newSearch(): (said: string) => boolean {
    const [head, borders] = [this.#head, this.#borders];
    let found = 0;
    return (said) => {
      let ends = false;
      if (found === head.length) {
        ends = this.#goesOn ? said.startsWith(this.#last) : said === this.#last;
        found = borders[found] ?? 0;
      }
      while (found > 0 && head[found] !== said) found = borders[found] ?? 0;
      if (head[found] === said) found++;
      return ends;
    };
  }
}

/** A text without words finds nothing. */
function phrasesMatcher({ mode, texts, caseSensitive }: TextFilter): LineMatcher {
  const compared = (word: string): string => (caseSensitive ? word : folded(word));
  const phrases = texts.flatMap((text) => {
    const words = wordsOf(text).map(compared);
    return words.length === 0 ? [] : [new Phrase(words, mode === 'prefix', caseSensitive)];
  });
  return {
    // Without their spans, for a line of a MiB may have a million words.
    matches: (line) => {
      const searches = phrases.filter((phrase) => phrase.mayBeIn(line)).map((phrase) => phrase.newSearch());
      if (searches.length === 0) return false;
      for (const word of wordsOf(line)) {
        const said = compared(word);
        for (const ends of searches) if (ends(said)) return true;
      }
      return false;
    },
    spans: (line) => {
      const searched = phrases.filter((phrase) => phrase.mayBeIn(line));
      if (searched.length === 0) return [];
      const words = wordSpans(line).map(({ word, span }) => ({ said: compared(word), span }));
      return joined(merged(searched.map((phrase) => spansOf(phrase, words))));
    },
  };
}

interface SaidWord {
  readonly said: string;
  readonly span: Span;
}

function* spansOf(phrase: Phrase, words: readonly SaidWord[]): Generator<Span, void, undefined> {
  const ends = phrase.newSearch();
  for (const [at, { said, span }] of words.entries()) {
    if (ends(said)) yield [words[at - phrase.wordsBefore]?.span[0] ?? 0, span[1]];
  }
}

/** For each number of first words: of how many of them the last ones are the first ones again (Knuth, Morris, Pratt). */
function bordersOf(words: readonly string[]): readonly number[] {
  const borders = [0, 0];
  for (let at = 1, border = 0; at < words.length; at++) {
    while (border > 0 && words[border] !== words[at]) border = borders[border] ?? 0;
    if (words[border] === words[at]) border++;
    borders.push(border);
  }
  return borders;
}

/** All spans by their beginning, out of lists that are. */
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

/** `spans`: by their beginning. */
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
