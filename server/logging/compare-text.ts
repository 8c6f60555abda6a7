/** By the units of UTF-16; so instants come in the order of time. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
