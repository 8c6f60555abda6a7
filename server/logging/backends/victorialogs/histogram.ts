// Counts for buckets that may differ in width: the store counts in equal cells, of which each bucket holds some whole.
import type { Buckets } from '../../log-store.ts';
import type { Asking, Deadline } from './asking.ts';
import { TIME } from './logsql.ts';
import { countUnsure, instantIn, numberIn, unsureIn } from './overview.ts';
import type { Question } from './question.ts';
import { newNonsense } from './refusal.ts';

/** More cells than these are not asked for; then each bucket is counted by itself. */
const MAX_CELLS = 100_000;

export interface CountedBuckets {
  readonly counts: readonly number[];
  /** Lines among them that have to be looked at more closely. */
  readonly unsure: number;
}

export async function countBuckets(
  asking: Asking,
  question: Question,
  unsure: string | undefined,
  buckets: Buckets,
  deadline: Deadline,
): Promise<CountedBuckets> {
  const { edges } = buckets;
  const [first = 0, last = 0] = [edges[0], edges.at(-1)];
  const cell = buckets.step ?? commonWidth(edges);
  if ((last - first) / cell > MAX_CELLS) return countEach(asking, question, unsure, edges, deadline);
  const offset = ((first % cell) + cell) % cell;
  const pipe = `stats by (${TIME}:${cell}ms offset ${offset}ms) count() as n${countUnsure(unsure)}`;
  const counts = edges.slice(1).map(() => 0);
  let unsureLines = 0;
  for await (const rows of asking.rows(question, [pipe], deadline)) {
    for (const row of rows) {
      const bucket = bucketOf(edges, Date.parse(instantIn(row, TIME)));
      counts[bucket] = (counts[bucket] ?? 0) + numberIn(row, 'n');
      unsureLines += unsureIn(row);
    }
  }
  return { counts, unsure: unsureLines };
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
  if (time < (edges[low] ?? 0) || time >= (edges[high] ?? 0)) throw newNonsense('a time not asked for');
  return low;
}

async function countEach(
  asking: Asking,
  question: Question,
  unsure: string | undefined,
  edges: readonly number[],
  deadline: Deadline,
): Promise<CountedBuckets> {
  const begins = edges.slice(0, -1);
  const each = begins.map((begin, index) => {
    const range = `${TIME}:[${new Date(begin).toISOString()},${new Date(edges[index + 1] ?? 0).toISOString()})`;
    return `count() if (${range}) as n${index}`;
  });
  const [row = {}] = await asking.allRows(
    question,
    [`stats ${each.join(', ')}${countUnsure(unsure)}`],
    deadline,
  );
  return { counts: begins.map((_, index) => numberIn(row, `n${index}`)), unsure: unsureIn(row) };
}
