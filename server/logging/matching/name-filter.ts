// Matcher of names by a NameFilter: full names, substrings or both.
import type { NameFilter } from '../store/log-store.ts';

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

/** Maximum number of characters of a pattern. The engine compiles one of 200,000 characters in a tenth of a second. */
const MAX_PATTERN_LENGTH = 8 << 10;

/** Returns a function that tests whether a name contains one of the texts. One pattern is faster than many searches. */
export function containsOneOf(texts: readonly string[]): (name: string) => boolean {
  if (texts.length === 0) return () => false;
  if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_PATTERN_LENGTH) {
    return (name) => texts.some((text) => name.includes(text));
  }
  const pattern = new RegExp(texts.map((text) => RegExp.escape(text)).join('|'));
  return (name) => pattern.test(name);
}
