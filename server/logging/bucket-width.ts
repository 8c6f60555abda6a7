import type { Buckets } from './log-store.ts';

/** The greatest width in ms of which all buckets are multiples: their own, where they are equally wide. */
export function commonWidth({ edges }: Buckets): number {
  let width = 0;
  for (let index = 1; index < edges.length; index++) {
    let rest = (edges[index] ?? 0) - (edges[index - 1] ?? 0);
    while (rest !== 0) [width, rest] = [rest, width % rest];
  }
  return Math.max(1, width);
}
