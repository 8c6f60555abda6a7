// Reference implementation of text filters, with JavaScript regular expressions. Only tests may provide patterns,
// because the engine can take exponential time.
import type { TextFilter } from '../../../../server/logging/store/log-store.ts';
import { segmentedWords, words } from './words.ts';

type LineTest = (line: string) => boolean;

/** Words are runs of letters, digits and underscores. */
export function textMatcher({ mode, texts, caseSensitive }: TextFilter): LineTest {
  const flags = caseSensitive ? 'u' : 'iu';
  const tests = texts.map((text): LineTest => {
    if (mode === 'phrase' || mode === 'prefix') return phraseTest(words(text), mode, flags, words);
    const pattern = new RegExp(mode === 'regex' ? javaScriptPattern(text) : RegExp.escape(text), flags);
    return (line) => pattern.test(line);
  });
  return (line) => tests.some((test) => test(line));
}

/**
 * Text filters on which all stores agree for the given lines, although stores split lines into words differently:
 * ASCII texts that match the same lines as runs of letters and digits, by the word boundaries of UAX #29, and as a
 * literal text between separators.
 */
export class PlainTexts {
  readonly #lines: readonly string[];
  readonly #known = new Map<string, boolean>();

  constructor(lines: Iterable<string>) {
    this.#lines = [...new Set(lines)];
  }

  has(filter: TextFilter): boolean {
    const { mode, texts, caseSensitive } = filter;
    if (mode !== 'phrase' && mode !== 'prefix') return true;
    return texts.every((text) => {
      const key = JSON.stringify([mode, caseSensitive, text]);
      const known = this.#known.get(key) ?? this.#isPlain(text, mode, caseSensitive ? 'u' : 'iu');
      this.#known.set(key, known);
      return known;
    });
  }

  #isPlain(text: string, mode: 'phrase' | 'prefix', flags: string): boolean {
    if (!/^[ -~]*$/.test(text)) return false;
    if (words(text).length === 0) return false;
    const end = mode === 'prefix' ? '' : '(?![\\p{L}\\p{N}_])';
    const literal = new RegExp(`(?<![\\p{L}\\p{N}_])${RegExp.escape(text)}${end}`, flags);
    const byRuns = phraseTest(words(text), mode, flags, words);
    const byBoundaries = phraseTest(segmentedWords(text), mode, flags, segmentedWords);
    return this.#lines.every((line) => {
      const matches = byRuns(line);
      return matches === byBoundaries(line) && matches === literal.test(line);
    });
  }
}

function phraseTest(
  wanted: readonly string[],
  mode: 'phrase' | 'prefix',
  flags: string,
  split: (line: string) => readonly string[],
): LineTest {
  if (wanted.length === 0) return () => false;
  const tests = wanted.map((word, index) => {
    const end = mode === 'prefix' && index === wanted.length - 1 ? '' : '$';
    return new RegExp(`^${RegExp.escape(word)}${end}`, flags);
  });
  // Most lines lack the longest word.
  const [longest = ''] = wanted.toSorted((one, other) => other.length - one.length);
  const mayMatch = new RegExp(RegExp.escape(longest), flags);
  return (line) => {
    if (!mayMatch.test(line)) return false;
    const found = split(line);
    return found.some(
      (_, begin) =>
        begin + tests.length <= found.length &&
        tests.every((test, index) => test.test(found[begin + index] ?? '')),
    );
  };
}

/** `.` excludes newlines only, and any punctuation may be escaped. */
function javaScriptPattern(pattern: string): string {
  let inSet = false;
  const pieces = pattern.match(/\\[\s\S]|[\s\S]/gu) ?? [];
  return pieces
    .map((piece) => {
      if (piece === '[') inSet = true;
      if (piece === ']') inSet = false;
      if (/^\\[\p{P}\p{S}]$/u.test(piece)) return RegExp.escape(piece.slice(1));
      return piece === '.' && !inSet ? '[^\\n]' : piece;
    })
    .join('');
}
