// A long time cut into slices of not too many lines each, in order, so that the store can sort each by itself. How many
// lines a slice should have is said when it is asked for.
import type { Deadline } from '../../../deadline.ts';
import type { Order } from '../../../log-store.ts';
import { instantAt, nanosecondsOf } from '../requests/nanoseconds.ts';
import { type Queries, REQUEST_MS } from '../requests/queries.ts';
import { instantIn, numberIn } from '../requests/row-values.ts';
import { TIME } from '../selection/logsql.ts';
import type { QuestionAbout, Range } from '../selection/question.ts';

export interface SlicePlan {
  readonly question: QuestionAbout;
  readonly order: Order;
  readonly range: Range;
  /** How many lines there may be in it. */
  readonly count: number;
}

/** Cells that are counted at a time. */
const MAX_CELLS = 4_096;
/** How many cells a slice is made of, about. */
const CELLS_PER_SLICE = 8;

interface Cell {
  readonly start: bigint;
  readonly end: bigint;
  readonly count: number;
}

export class Slices {
  readonly #queries: Queries;
  readonly #plan: SlicePlan;
  readonly #deadline: Deadline;
  /** The next one is the last of these. */
  readonly #left: Cell[];

  constructor(queries: Queries, plan: SlicePlan, deadline: Deadline) {
    this.#queries = queries;
    this.#plan = plan;
    this.#deadline = deadline;
    this.#left = [cellOf(plan.range, plan.count)];
  }

  /** About so many lines, or a single moment of more; undefined when nothing is left. What has no lines is left out. */
  async next(lines: number): Promise<Range | undefined> {
    let slice: Cell | undefined;
    for (let cell = this.#left.pop(); cell; cell = this.#left.pop()) {
      if (slice && slice.count + cell.count > lines) {
        this.#left.push(cell);
        break;
      }
      if (!slice && cell.count > lines * 2 && !isMoment(cell)) await this.#cut(cell, lines);
      else slice = slice ? joined(slice, cell) : cell;
    }
    return slice && { start: instantAt(slice.start), end: instantAt(slice.end) };
  }

  /** The next one is to be a part of this, which was the last one, or comes right before what was put back before. */
  putBack(range: Range): void {
    this.#left.push(cellOf(range, Number.POSITIVE_INFINITY));
  }

  async #cut(cell: Cell, lines: number): Promise<void> {
    const cells = await this.#cellsOf(cell, lines);
    this.#left.push(...(this.#plan.order === 'asc' ? cells.toReversed() : cells));
  }

  /** Those that have lines, in the order of time. */
  async #cellsOf({ start, end, count }: Cell, lines: number): Promise<Cell[]> {
    const asked = this.#plan.question({ start: instantAt(start), end: instantAt(end) });
    if (!asked) return [];
    const wanted = BigInt(Math.min(MAX_CELLS, Math.ceil((count / lines) * CELLS_PER_SLICE) + 1));
    const width = (end - start) / wanted + 1n;
    const pipe = `stats by (${TIME}:${width}ns offset ${start % width}ns) count() as n`;
    const rows = await this.#queries.allRows(asked, [pipe], this.#deadline.within(REQUEST_MS));
    return rows
      .map((row): Cell => {
        const at = nanosecondsOf(instantIn(row, TIME));
        return { start: at, end: at + width < end ? at + width : end, count: numberIn(row, 'n') };
      })
      .sort((left, right) => Number(left.start - right.start));
  }
}

function isMoment({ start, end }: Cell): boolean {
  return end - start === 1n;
}

function cellOf({ start, end }: Range, count: number): Cell {
  return { start: nanosecondsOf(start), end: nanosecondsOf(end), count };
}

function joined(left: Cell, right: Cell): Cell {
  return {
    start: left.start < right.start ? left.start : right.start,
    end: left.end > right.end ? left.end : right.end,
    count: left.count + right.count,
  };
}
