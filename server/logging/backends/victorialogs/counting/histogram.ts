// Counts for buckets that may differ in width: the store counts in equal cells, of which each bucket holds some whole.
import { commonWidth } from '../../../bucket-width.ts';
import type { Deadline } from '../../../deadline.ts';
import { instantOf, millisecondsOf } from '../../../instant.ts';
import type { Buckets, Instant } from '../../../log-store.ts';
import type { Queries } from '../requests/queries.ts';
import { newNonsense } from '../requests/refusal.ts';
import { instantIn, numberIn } from '../requests/row-values.ts';
import type { Row } from '../requests/rows.ts';
import { TIME, within } from '../selection/logsql.ts';
import type { Question, Questions, QuickQuestion } from '../selection/question.ts';
import { isUnsure, type Judge } from './judge.ts';

/**
 * At most this many cells are asked for; beyond, each bucket is counted by itself, which costs the store a look at every
 * line for each. The answer lists only cells with lines, and a century has fewer hours.
 */
const MAX_CELLS = 1_000_000;

/** Exact. */
export async function countBuckets(
  queries: Queries,
  { quick, exact }: Questions,
  buckets: Buckets,
  judge: Judge,
  deadline: Deadline,
): Promise<readonly number[]> {
  if (quick) {
    const { counts, open } = await counted(queries, quick, { judge, quick }, buckets, deadline);
    const judged = await judge.judged(open, quick, deadline);
    for (const { time } of judged?.lines ?? []) count(counts, buckets.edges, time, 1);
    if (judged) return counts;
  }
  return (await counted(queries, exact, undefined, buckets, deadline)).counts;
}

interface Counted {
  /** One for each bucket, of lines that are wanted for sure. */
  readonly counts: number[];
  /** Rows of cells with further lines that have to be checked here. */
  readonly open: readonly Row[];
}

interface Judging {
  readonly judge: Judge;
  readonly quick: QuickQuestion;
}

async function counted(
  queries: Queries,
  question: Question,
  judging: Judging | undefined,
  buckets: Buckets,
  deadline: Deadline,
): Promise<Counted> {
  const { edges } = buckets;
  const [first = 0, last = 0] = [edges[0], edges.at(-1)];
  const cell = commonWidth(buckets);
  const cells = (last - first) / cell;
  if (cells > MAX_CELLS) return countEach(queries, question, judging, edges, deadline);
  const offset = ((first % cell) + cell) % cell;
  const functions = judging
    ? `count() if (${judging.quick.sure}) as n, ${judging.judge.counted(judging.quick, cells)}`
    : 'count() as n';
  const pipe = `stats by (${TIME}:${cell}ms offset ${offset}ms) ${functions}`;
  const counts = edges.slice(1).map(() => 0);
  const open: Row[] = [];
  for await (const rows of queries.rows(question, [pipe], deadline)) {
    for (const row of rows) {
      count(counts, edges, instantIn(row, TIME), numberIn(row, 'n'));
      if (judging && isUnsure(row)) open.push(row);
    }
  }
  return { counts, open };
}

function count(counts: number[], edges: readonly number[], time: Instant, lines: number): void {
  const bucket = bucketOf(edges, millisecondsOf(time));
  counts[bucket] = (counts[bucket] ?? 0) + lines;
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
  queries: Queries,
  question: Question,
  judging: Judging | undefined,
  edges: readonly number[],
  deadline: Deadline,
): Promise<Counted> {
  const begins = edges.slice(0, -1);
  const sure = judging ? ` ${judging.quick.sure}` : '';
  const each = begins.map((begin, index) => {
    const range = within({ start: instantOf(begin), end: instantOf(edges[index + 1] ?? 0) });
    return `count() if (${range}${sure}) as n${index}`;
  });
  const unsure = judging ? [judging.judge.counted(judging.quick, 1)] : [];
  const [row = {}] = await queries.allRows(question, [`stats ${[...each, ...unsure].join(', ')}`], deadline);
  return {
    counts: begins.map((_, index) => numberIn(row, `n${index}`)),
    open: judging && isUnsure(row) ? [row] : [],
  };
}
