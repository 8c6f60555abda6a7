// Reference implementations of word splitting: by character class and by UAX #29. No code is shared with
// server/logging/matching.

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
const WORDS = /[\p{L}\p{N}_]+/gu;
const byRuns = new Map<string, readonly string[]>();
const byBoundaries = new Map<string, readonly string[]>();

/** Runs of letters, digits and underscores. */
export function words(line: string): readonly string[] {
  return cached(byRuns, line, (text) => text.match(WORDS) ?? []);
}

/** Words by UAX #29, as an analyser with the standard tokenizer splits them. */
export function segmentedWords(line: string): readonly string[] {
  return cached(byBoundaries, line, (text) =>
    Array.from(segmenter.segment(text))
      .filter(({ isWordLike }) => isWordLike)
      .map(({ segment }) => segment),
  );
}

function cached<Value>(cache: Map<string, Value>, key: string, read: (key: string) => Value): Value {
  const known = cache.get(key) ?? read(key);
  cache.set(key, known);
  return known;
}
