// Tells in this process whether a line says what a text filter asks for, and where. Linear in the line: a caller's
// regular expression runs in RE2, and only literals of it in the engine of JavaScript.
import { RE2JS } from 're2js';
import type { TextFilter } from '../log-store.ts';
import { folded } from './letter-case.ts';
import { toRE2 } from './re2.ts';
import { parsePattern, patternSize } from './regex-dialect.ts';
import { type Place, placedWords, wordsOf } from './words.ts';

export interface LineMatcher {
  matches(line: string): boolean;
  /** Ascending, without overlaps; UTF-16 code units. */
  places(line: string): Place[];
}

/** Throws what parsePattern throws; a text without words finds nothing in the modes that look for words. */
export function lineMatcher({ mode, texts, caseSensitive }: TextFilter): LineMatcher {
  const matchers = texts.map((text) => {
    if (mode === 'regex') return patternMatcher(text, caseSensitive);
    if (mode === 'substring') return substringMatcher(text, caseSensitive);
    return phraseMatcher(text, mode === 'prefix', caseSensitive);
  });
  const [only] = matchers;
  if (only && matchers.length === 1) return only;
  return {
    matches: (line) => matchers.some((matcher) => matcher.matches(line)),
    places: (line) => merged(matchers.flatMap((matcher) => matcher.places(line))),
  };
}

/** Less than half a second of them. */
const MAX_STEPS = 40 << 20;

/**
 * Characters of a line that can be looked at in one go, whatever they are: patterns take time for all that they are made
 * of at each. Infinity where that is no matter.
 */
export function lookableLength({ mode, texts }: TextFilter): number {
  if (mode !== 'regex') return Number.POSITIVE_INFINITY;
  const size = texts.reduce((sum, text) => sum + patternSize(parsePattern(text)), 0);
  return Math.floor(MAX_STEPS / Math.max(1, size));
}

function substringMatcher(text: string, caseSensitive: boolean): LineMatcher {
  const found = literalIn(text, caseSensitive);
  return {
    matches: (line) => (caseSensitive ? line.includes(text) : line.search(found) !== -1),
    places: (line) => Array.from(line.matchAll(found), placeOf).filter(([begin, end]) => begin < end),
  };
}

function placeOf({ index, 0: text }: RegExpExecArray): Place {
  return [index, index + text.length];
}

function literalIn(text: string, caseSensitive: boolean): RegExp {
  return new RegExp(text.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&'), caseSensitive ? 'gu' : 'giu');
}

function patternMatcher(text: string, caseSensitive: boolean): LineMatcher {
  const pattern = RE2JS.compile(toRE2(parsePattern(text)), caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  return {
    matches: (line) => pattern.test(line),
    places: (line) => {
      const places: Place[] = [];
      const matcher = pattern.matcher(line);
      while (matcher.find())
        if (matcher.start() < matcher.end()) places.push([matcher.start(), matcher.end()]);
      return places;
    },
  };
}

function phraseMatcher(text: string, goesOn: boolean, caseSensitive: boolean): LineMatcher {
  const fold = (word: string) => (caseSensitive ? word : folded(word));
  const wanted = wordsOf(text).map(fold);
  const [longest] = wanted.toSorted((a, b) => b.length - a.length);
  if (longest === undefined) return { matches: () => false, places: () => [] };
  // Most lines do not even hold the characters, and need not be taken apart.
  const quick = substringMatcher(longest, caseSensitive);
  const places = (line: string, all: boolean): Place[] => {
    const words = placedWords(line);
    const said = words.map(({ word }) => fold(word));
    const found: Place[] = [];
    for (let at = 0; at + wanted.length <= words.length; at++) {
      const isHere = wanted.every((word, index) => {
        const there = said[at + index] ?? '';
        return goesOn && index === wanted.length - 1 ? there.startsWith(word) : there === word;
      });
      if (!isHere) continue;
      found.push([words[at]?.place[0] ?? 0, words[at + wanted.length - 1]?.place[1] ?? 0]);
      if (!all) break;
    }
    return found;
  };
  return {
    matches: (line) => quick.matches(line) && places(line, false).length > 0,
    places: (line) => (quick.matches(line) ? merged(places(line, true)) : []),
  };
}

function merged(places: readonly Place[]): Place[] {
  const result: Place[] = [];
  for (const [begin, end] of places.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && begin < last[1]) result[result.length - 1] = [last[0], Math.max(last[1], end)];
    else result.push([begin, end]);
  }
  return result;
}
