import type { NameFilter } from '../log-store.ts';
import { containsOneOf } from './contained-text.ts';

/** Both parts hold when both are given; case of the fuzzy part is ignored in ASCII. */
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
