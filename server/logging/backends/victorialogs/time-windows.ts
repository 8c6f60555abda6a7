// A long range cut into slices with a limited number of records, in order. The store counts records by cells of time; a
// cell with too many records is cut again.
import type { Deadline } from '../../deadline.ts';
import type { Order } from '../../log-store.ts';
import { type Client, REQUEST_MS } from './client.ts';
import type { Overview } from './counts.ts';
import { type Range, TIME } from './logsql.ts';
import { instantAt, nanosecondsOf } from './nanoseconds.ts';
import { instantIn, numberIn } from './rows.ts';
import type { SelectionQuery } from './selection-query.ts';

/** Maximum cells of one count. */
const MAX_CELLS = 4_096;
/** About the number of cells in a slice. */
const CELLS_PER_SLICE = 8;

interface Cell {
  readonly start: bigint;
  readonly end: bigint;
  readonly count: number;
}

export class TimeSlices {
  readonly #client: Client;
  readonly #query: SelectionQuery;
  readonly #order: Order;
  readonly #deadline: Deadline;
  /** A stack: the next cell is the last one. */
  readonly #cells: Cell[];

  constructor(client: Client, query: SelectionQuery, order: Order, overview: Overview, deadline: Deadline) {
    this.#client = client;
    this.#query = query;
    this.#order = order;
    this.#deadline = deadline;
    this.#cells = overview.span ? [cellOf(overview.span, overview.count)] : [];
  }

  /** A slice with about `records` records, or one instant with more; undefined at the end. Skips empty ranges. */
  async next(records: number): Promise<Range | undefined> {
    let slice: Cell | undefined;
    for (let cell = this.#cells.pop(); cell; cell = this.#cells.pop()) {
      if (slice && slice.count + cell.count > records) {
        this.#cells.push(cell);
        break;
      }
      if (!slice && cell.count > records * 2 && cell.end - cell.start > 1n) await this.#cut(cell, records);
      else slice = slice ? joined(slice, cell) : cell;
    }
    return slice && { start: instantAt(slice.start), end: instantAt(slice.end) };
  }

  /** Returns a slice, or the unread rest of it, to be cut into smaller ones. */
  putBack(range: Range): void {
    this.#cells.push(cellOf(range, Number.POSITIVE_INFINITY));
  }

  async #cut({ start, end, count }: Cell, records: number): Promise<void> {
    const query = this.#query.within({ start: instantAt(start), end: instantAt(end) });
    if (!query) return;
    const wanted = BigInt(Math.min(MAX_CELLS, Math.ceil((count / records) * CELLS_PER_SLICE) + 1));
    const width = (end - start) / wanted + 1n;
    const stats = `stats by (${TIME}:${width}ns offset ${start % width}ns) count() as n`;
    const rows = await this.#client.counts(query, stats, this.#deadline.within(REQUEST_MS));
    const cells = rows.map((row): Cell => {
      const at = nanosecondsOf(instantIn(row, TIME));
      return { start: at, end: at + width < end ? at + width : end, count: numberIn(row, 'n') };
    });
    const sign = this.#order === 'asc' ? -1 : 1;
    this.#cells.push(...cells.sort((left, right) => sign * Number(left.start - right.start)));
  }
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
