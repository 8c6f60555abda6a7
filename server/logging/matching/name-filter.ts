// Matcher of names by a NameFilter: full names, substrings or both.
import type { NameFilter } from '../log-store.ts';

/** Below this many texts, a linear search is faster than a binary one. */
const FEW = 16;

/** Returns a matcher of names for the filter. `contains` ignores the case of ASCII letters. */
export function nameMatcher(filter: NameFilter | undefined): (name: string) => boolean {
  if (!filter) return () => true;
  const exact = filter.exact && new Set(filter.exact);
  const contains = filter.contains && containsOneOf(filter.contains.map(lowerASCII));
  return (name) => {
    if (exact && !exact.has(name)) return false;
    return contains ? contains(lowerASCII(name)) : true;
  };
}

function lowerASCII(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/**
 * Returns a function that tests whether a name contains one of the texts. A query may have a thousand texts for thousands
 * of names, and a linear search takes up to a millisecond for each name.
 */
export function containsOneOf(texts: readonly string[]): (name: string) => boolean {
  if (texts.length < FEW) return (name) => texts.some((text) => name.includes(text));
  const sorted = withoutExtensions(texts);
  return (name) => {
    for (let at = 0; at < name.length; at++) {
      const rest = name.slice(at);
      // No sorted text starts with another one, so a prefix of `rest` can only be the last text not after it.
      const candidate = lastUpTo(sorted, rest);
      if (candidate !== undefined && rest.startsWith(candidate)) return true;
    }
    return false;
  };
}

/** Sorted by UTF-16 code units, without texts that start with another text. */
function withoutExtensions(texts: readonly string[]): string[] {
  const kept: string[] = [];
  for (const text of texts.toSorted()) {
    const previous = kept.at(-1);
    if (previous === undefined || !text.startsWith(previous)) kept.push(text);
  }
  return kept;
}

function lastUpTo(sorted: readonly string[], text: string): string | undefined {
  let begin = 0;
  for (let end = sorted.length; begin < end; ) {
    const middle = (begin + end) >> 1;
    if ((sorted[middle] ?? '') <= text) begin = middle + 1;
    else end = middle;
  }
  return sorted[begin - 1];
}
