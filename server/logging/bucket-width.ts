import type { Buckets } from './log-store.ts';

/** The greatest common divisor of the widths of the buckets, in ms. */
export function commonWidth({ edges }: Buckets): number {
  let width = 0;
  for (let index = 1; index < edges.length; index++) {
    let rest = (edges[index] ?? 0) - (edges[index - 1] ?? 0);
    while (rest !== 0) [width, rest] = [rest, width % rest];
  }
  return Math.max(1, width);
}
