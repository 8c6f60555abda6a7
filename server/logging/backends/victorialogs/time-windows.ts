// Divides a time range into time windows, each with a limited number of VictoriaLogs records.
import { instantOfNanoseconds, nanosecondsOf } from '../../store/instant.ts';
import type { Deadline, Order } from '../../store/log-store.ts';
import type { Overview } from './counts.ts';
import { type Range, TIME } from './logsql.ts';
import { type Client, REQUEST_MS } from './query-client.ts';
import { instantIn, numberIn } from './rows.ts';
import type { SelectionQuery } from './selection-query.ts';

/** Maximum number of cells in one count. */
const MAX_CELLS = 4_096;
/** Approximate number of cells in a window. */
const CELLS_PER_WINDOW = 8;

interface Cell {
  readonly start: bigint;
  readonly end: bigint;
  readonly count: number;
}

/**
 * The store counts the records in short intervals of equal length (cells). Neighbouring cells are joined to a window;
 * a cell with too many records is divided.
 */
export class TimeWindows {
  readonly #client: Client;
  readonly #query: SelectionQuery;
  readonly #order: Order;
  readonly #deadline: Deadline;
  /** Stack of the remaining cells: the next cell is the last one. */
  readonly #cells: Cell[];

  constructor(client: Client, query: SelectionQuery, order: Order, overview: Overview, deadline: Deadline) {
    this.#client = client;
    this.#query = query;
    this.#order = order;
    this.#deadline = deadline;
    this.#cells = overview.span ? [cellOf(overview.span, overview.count)] : [];
  }

  /**
   * Returns the next window, with about `records` records, or with more if they have the same time; undefined at the end.
   * Skips empty ranges.
   */
  async next(records: number): Promise<Range | undefined> {
    let window: Cell | undefined;
    for (let cell = this.#cells.pop(); cell; cell = this.#cells.pop()) {
      if (window && window.count + cell.count > records) {
        this.#cells.push(cell);
        break;
      }
      if (!window && cell.count > records * 2 && cell.end - cell.start > 1n)
        await this.#divide(cell, records);
      else window = window ? joined(window, cell) : cell;
    }
    return window && { start: instantOfNanoseconds(window.start), end: instantOfNanoseconds(window.end) };
  }

  /** Puts back a window, or its unread rest, to be divided into smaller windows. */
  putBack(range: Range): void {
    this.#cells.push(cellOf(range, Number.POSITIVE_INFINITY));
  }

  async #divide({ start, end, count }: Cell, records: number): Promise<void> {
    const query = this.#query.within({ start: instantOfNanoseconds(start), end: instantOfNanoseconds(end) });
    if (!query) return;
    const wanted = BigInt(Math.min(MAX_CELLS, Math.ceil((count / records) * CELLS_PER_WINDOW) + 1));
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
