/** By UTF-16 code units, which sorts instants by time. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
