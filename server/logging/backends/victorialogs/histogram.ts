// Counts for buckets that may differ in width: the store counts in equal cells, of which each bucket holds some whole.
import type { Buckets } from '../../log-store.ts';
import type { Asking, Deadline } from './asking.ts';
import { TIME } from './logsql.ts';
import { instantIn, numberIn } from './overview.ts';
import type { Question } from './question.ts';
import { BrokenAnswerError } from './rows.ts';

/** More cells than these are not asked for; then each bucket is counted by itself. */
const MAX_CELLS = 100_000;

export async function countBuckets(
  asking: Asking,
  question: Question,
  buckets: Buckets,
  deadline: Deadline,
): Promise<number[]> {
  const { edges } = buckets;
  const [first = 0, last = 0] = [edges[0], edges.at(-1)];
  const cell = buckets.step ?? commonWidth(edges);
  if ((last - first) / cell > MAX_CELLS) return countEach(asking, question, edges, deadline);
  const offset = ((first % cell) + cell) % cell;
  const pipe = `stats by (${TIME}:${cell}ms offset ${offset}ms) count() as n`;
  const counts = edges.slice(1).map(() => 0);
  for await (const rows of asking.rows(question, [pipe], deadline)) {
    for (const row of rows) {
      const bucket = bucketOf(edges, Date.parse(instantIn(row, TIME)));
      counts[bucket] = (counts[bucket] ?? 0) + numberIn(row, 'n');
    }
  }
  return counts;
}

/** The greatest width of which all buckets are multiples. */
function commonWidth(edges: readonly number[]): number {
  let width = 0;
  for (let index = 1; index < edges.length; index++) {
    let rest = (edges[index] ?? 0) - (edges[index - 1] ?? 0);
    while (rest !== 0) [width, rest] = [rest, width % rest];
  }
  return Math.max(1, Math.abs(width));
}

/** The last one that does not begin later. */
function bucketOf(edges: readonly number[], time: number): number {
  let [low, high] = [0, edges.length - 1];
  while (low < high - 1) {
    const middle = (low + high) >> 1;
    if ((edges[middle] ?? 0) <= time) low = middle;
    else high = middle;
  }
  if (time < (edges[low] ?? 0) || time >= (edges[high] ?? 0))
    throw new BrokenAnswerError('a time not asked for');
  return low;
}

async function countEach(
  asking: Asking,
  question: Question,
  edges: readonly number[],
  deadline: Deadline,
): Promise<number[]> {
  const begins = edges.slice(0, -1);
  const each = begins.map((begin, index) => {
    const range = `${TIME}:[${new Date(begin).toISOString()},${new Date(edges[index + 1] ?? 0).toISOString()})`;
    return `count() if (${range}) as n${index}`;
  });
  const [row = {}] = await asking.allRows(question, [`stats ${each.join(', ')}`], deadline);
  return begins.map((_, index) => numberIn(row, `n${index}`));
}
