// Counts for buckets that may differ in width: the store counts in equal cells, of which each bucket holds some whole.
import { instantOf, millisecondsOf } from '../../../instant.ts';
import type { Buckets, Instant } from '../../../log-store.ts';
import type { Asking, Deadline } from '../requests/asking.ts';
import { newNonsense } from '../requests/refusal.ts';
import { TIME, within } from '../selection/logsql.ts';
import type { Question, Questions, QuickQuestion } from '../selection/question.ts';
import type { Judge } from './judge.ts';
import { instantIn, numberIn } from './overview.ts';

/** More cells than these are not asked for; then each bucket is counted by itself. */
const MAX_CELLS = 100_000;

/** Exact. */
export async function countBuckets(
  asking: Asking,
  { quick, exact }: Questions,
  buckets: Buckets,
  judge: Judge,
  deadline: Deadline,
): Promise<readonly number[]> {
  if (quick) {
    const { sure, unsure } = await counted(asking, quick, quick, buckets, deadline);
    const judged = unsure === 0 ? [] : await judge.lines(quick, deadline);
    for (const { time } of judged ?? []) count(sure, buckets.edges, time, 1);
    if (judged) return sure;
  }
  return (await counted(asking, exact, undefined, buckets, deadline)).sure;
}

interface Counts {
  /** One for each bucket. */
  readonly sure: number[];
  /** Lines that are in none of them and have to be looked at. */
  readonly unsure: number;
}

async function counted(
  asking: Asking,
  question: Question,
  quick: QuickQuestion | undefined,
  { edges, step }: Buckets,
  deadline: Deadline,
): Promise<Counts> {
  const [first = 0, last = 0] = [edges[0], edges.at(-1)];
  const cell = step ?? commonWidth(edges);
  if ((last - first) / cell > MAX_CELLS) return countEach(asking, question, quick, edges, deadline);
  const offset = ((first % cell) + cell) % cell;
  const functions = quick
    ? `count() if (${quick.sure}) as n, count() if (${quick.unsure}) as unsure`
    : 'count() as n';
  const pipe = `stats by (${TIME}:${cell}ms offset ${offset}ms) ${functions}`;
  const sure = edges.slice(1).map(() => 0);
  let unsure = 0;
  for await (const rows of asking.rows(question, [pipe], deadline)) {
    for (const row of rows) {
      count(sure, edges, instantIn(row, TIME), numberIn(row, 'n'));
      if (quick) unsure += numberIn(row, 'unsure');
    }
  }
  return { sure, unsure };
}

function count(counts: number[], edges: readonly number[], time: Instant, lines: number): void {
  const bucket = bucketOf(edges, millisecondsOf(time));
  counts[bucket] = (counts[bucket] ?? 0) + lines;
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
  quick: QuickQuestion | undefined,
  edges: readonly number[],
  deadline: Deadline,
): Promise<Counts> {
  const begins = edges.slice(0, -1);
  const sure = quick ? ` ${quick.sure}` : '';
  const each = begins.map((begin, index) => {
    const range = within({ start: instantOf(begin), end: instantOf(edges[index + 1] ?? 0) });
    return `count() if (${range}${sure}) as n${index}`;
  });
  const unsure = quick ? [`count() if (${quick.unsure}) as unsure`] : [];
  const [row = {}] = await asking.allRows(question, [`stats ${[...each, ...unsure].join(', ')}`], deadline);
  return {
    sure: begins.map((_, index) => numberIn(row, `n${index}`)),
    unsure: quick ? numberIn(row, 'unsure') : 0,
  };
}
