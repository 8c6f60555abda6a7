/** Returns true if resourceVersion `a` is later than `b`. Resource versions are decimal numbers of any length. */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
