// Counts for buckets that may differ in width: the store counts in equal cells, of which each bucket holds some whole.
import { commonWidth } from '../../../bucket-width.ts';
import type { Deadline } from '../../../deadline.ts';
import { instantOf } from '../../../instant.ts';
import type { Buckets, Instant } from '../../../log-store.ts';
import { BucketCounts } from '../../bucket-counts.ts';
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
): Promise<BucketCounts> {
  if (quick) {
    const { counts, open } = await counted(queries, quick, { judge, quick }, buckets, deadline);
    const judged = await judge.judged(open, quick, deadline);
    for (const { time } of judged?.lines ?? []) count(counts, time, 1);
    if (judged) return counts;
  }
  return (await counted(queries, exact, undefined, buckets, deadline)).counts;
}

interface Counted {
  /** Of lines that are wanted for sure. */
  readonly counts: BucketCounts;
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
  if (cells > MAX_CELLS) return countEach(queries, question, judging, buckets, deadline);
  const offset = ((first % cell) + cell) % cell;
  const functions = judging
    ? `count() if (${judging.quick.sure}) as n, ${judging.judge.counted(judging.quick, cells)}`
    : 'count() as n';
  const pipe = `stats by (${TIME}:${cell}ms offset ${offset}ms) ${functions}`;
  const counts = BucketCounts.of(buckets);
  const open: Row[] = [];
  for await (const rows of queries.rows(question, [pipe], deadline)) {
    for (const row of rows) {
      count(counts, instantIn(row, TIME), numberIn(row, 'n'));
      if (judging && isUnsure(row)) open.push(row);
    }
  }
  return { counts, open };
}

function count(counts: BucketCounts, time: Instant, lines: number): void {
  if (!counts.add(time, lines)) throw newNonsense('a time not asked for');
}

async function countEach(
  queries: Queries,
  question: Question,
  judging: Judging | undefined,
  buckets: Buckets,
  deadline: Deadline,
): Promise<Counted> {
  const edges = buckets.edges.map(instantOf);
  const begins = edges.slice(0, -1);
  const sure = judging ? ` ${judging.quick.sure}` : '';
  const each = begins.map((begin, index) => {
    const range = within({ start: begin, end: edges[index + 1] ?? begin });
    return `count() if (${range}${sure}) as n${index}`;
  });
  const unsure = judging ? [judging.judge.counted(judging.quick, 1)] : [];
  const [row = {}] = await queries.allRows(question, [`stats ${[...each, ...unsure].join(', ')}`], deadline);
  const counts = BucketCounts.of(buckets);
  for (const [index, begin] of begins.entries()) count(counts, begin, numberIn(row, `n${index}`));
  return {
    counts,
    open: judging && isUnsure(row) ? [row] : [],
  };
}
