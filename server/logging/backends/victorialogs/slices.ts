// A long time cut into slices of not too many lines each, in order, so that each can be put in order by itself.
import type { Order } from '../../log-store.ts';
import type { Asking, Deadline } from './asking.ts';
import { TIME } from './logsql.ts';
import { instantAt, nanosecondsOf } from './nanoseconds.ts';
import { instantIn, numberIn } from './overview.ts';
import type { Question, Range } from './question.ts';

export interface SlicePlan {
  /** The question about a part of the range; undefined when nothing can be found there. */
  readonly question: (range: Range) => Question | undefined;
  readonly order: Order;
  /** Lines of one slice, about. */
  readonly size: number;
}

/** Cells that are counted at a time. */
const MAX_CELLS = 4_096;

interface Cell {
  readonly start: bigint;
  readonly end: bigint;
  readonly count: number;
}

/** `count`: how many lines there may be in the range. Slices without lines are left out. */
export async function* slicesOf(
  asking: Asking,
  plan: SlicePlan,
  range: Range,
  count: number,
  deadline: Deadline,
): AsyncGenerator<Range, void, undefined> {
  const cells = await cellsOf(asking, plan, range, count, deadline);
  let slice: Cell | undefined;
  for (const cell of plan.order === 'asc' ? cells : cells.toReversed()) {
    if (slice && slice.count + cell.count <= plan.size) {
      slice = joined(slice, cell);
      continue;
    }
    if (slice) yield* whole(asking, plan, slice, deadline);
    slice = cell;
  }
  if (slice) yield* whole(asking, plan, slice, deadline);
}

/** A cell of too many lines is cut further, down to a single moment. */
async function* whole(
  asking: Asking,
  plan: SlicePlan,
  { start, end, count }: Cell,
  deadline: Deadline,
): AsyncGenerator<Range, void, undefined> {
  const range = { start: instantAt(start), end: instantAt(end) };
  if (count <= plan.size * 2 || end - start === 1n) yield range;
  else yield* slicesOf(asking, plan, range, count, deadline);
}

function joined(left: Cell, right: Cell): Cell {
  return {
    start: left.start < right.start ? left.start : right.start,
    end: left.end > right.end ? left.end : right.end,
    count: left.count + right.count,
  };
}

/** Those that have lines, in the order of time. */
async function cellsOf(
  asking: Asking,
  { question, size }: SlicePlan,
  range: Range,
  count: number,
  deadline: Deadline,
): Promise<Cell[]> {
  const asked = question(range);
  if (!asked) return [];
  const [start, end] = [nanosecondsOf(range.start), nanosecondsOf(range.end)];
  const wanted = BigInt(Math.min(MAX_CELLS, Math.ceil((count / size) * 8) + 1));
  const width = (end - start) / wanted + 1n;
  const pipe = `stats by (${TIME}:${width}ns offset ${start % width}ns) count() as n`;
  const rows = await asking.allRows(asked, [pipe], deadline);
  return rows
    .map((row): Cell => {
      const at = nanosecondsOf(instantIn(row, TIME));
      return { start: at, end: at + width < end ? at + width : end, count: numberIn(row, 'n') };
    })
    .sort((left, right) => Number(left.start - right.start));
}
