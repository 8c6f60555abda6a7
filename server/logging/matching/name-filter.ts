import type { NameFilter } from '../log-store.ts';

/** Both parts hold when both are given; case of the fuzzy part is ignored in ASCII. */
export function nameMatcher(filter: NameFilter | undefined): (name: string) => boolean {
  if (!filter) return () => true;
  const exact = filter.exact && new Set(filter.exact);
  const contains = filter.contains?.map(lowerASCII);
  return (name) => {
    if (exact && !exact.has(name)) return false;
    if (!contains) return true;
    const lower = lowerASCII(name);
    return contains.some((text) => lower.includes(text));
  };
}

function lowerASCII(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
