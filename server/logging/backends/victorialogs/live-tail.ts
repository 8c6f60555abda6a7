// Live tail that polls VictoriaLogs for new records. Records that reach the store more than 30 seconds late are not
// returned.
import { instantOf, later, millisecondsOf, nextInstant } from '../../store/instant.ts';
import {
  type Batches,
  Deadline,
  type FollowCall,
  type Instant,
  type LogRecord,
} from '../../store/log-store.ts';
import { OverlapWindow } from '../../store/overlap-window.ts';
import { isPageTooLong, MAX_PAGE_BYTES } from '../../store/page-limit.ts';
import { polledBatches } from '../polled-batches.ts';
import { exportRecords } from './export.ts';
import { TIME } from './logsql.ts';
import { type Client, MAX_INSTANT_BYTES } from './query-client.ts';
import { fieldsPipe, inOrder, recordsOf } from './record.ts';
import { instantIn, numberIn } from './rows.ts';
import type { SelectionQuery } from './selection-query.ts';

interface LiveTailsOptions {
  readonly client: Client;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

/** A record that reaches the store later than this after its time is not returned. */
const LATENESS_MS = 30_000;
/** Older unread records than LATENESS_MS plus this time are read as in an export, without digests. */
const RECENT_MS = 10_000;
const POLL_MS = 200;
/** All live tails together poll at most 100 times a second. */
const POLL_MS_PER_TAIL = 10;
/** Memory for digests is about 3 MB. Above 660 records a second, late records are accepted for less than LATENESS_MS. */
const MAX_DIGESTS = 20_000;
const REQUEST_MS = 30_000;
const CELL_MS = 250;
/** Approximate maximum number of records per request. */
const MAX_RECORDS = 5_000;
/** Later than any record. */
const FOREVER: Instant = '9999-12-31T23:59:59.999999999Z';

/**
 * A poll counts the records of the last 30 seconds in cells of 250 ms, and reads the cells whose count has grown. The
 * tail endpoint of VictoriaLogs is not used, because it drops records that arrive late or have the same time as the
 * last record.
 */
export class LiveTails {
  readonly #options: LiveTailsOptions;
  #count = 0;

  constructor(options: LiveTailsOptions) {
    this.#options = options;
  }

  async *follow(query: SelectionQuery, { signal, caller }: FollowCall): Batches {
    const { now, wallClock } = this.#options;
    const tail = new LiveTail(this.#options, query);
    const deadline = new Deadline({ signal, caller, timeoutMs: Number.POSITIVE_INFINITY }, now);
    this.#count++;
    try {
      yield* polledBatches({
        signal,
        now,
        poll: () => tail.read(wallClock(), deadline),
        pauseMs: ({ began }) => began + Math.max(POLL_MS, this.#count * POLL_MS_PER_TAIL) - now(),
      });
    } finally {
      this.#count--;
    }
  }
}

interface Cell {
  readonly start: number;
  readonly count: number;
}

class LiveTail {
  readonly #client: Client;
  readonly #query: SelectionQuery;
  readonly #window: OverlapWindow;
  /** All records before this time have been returned. */
  #low: Instant;
  /** Number of records in each cell at its last read, by the start of the cell. */
  #counts = new Map<number, number>();

  constructor({ client, wallClock }: LiveTailsOptions, query: SelectionQuery) {
    this.#client = client;
    this.#query = query;
    this.#low = query.range.start;
    this.#window = new OverlapWindow({ limit: MAX_DIGESTS, wallClock });
  }

  /**
   * Yields the records that were not returned yet: older ones as in an export, then recent ones by a poll. After a failure,
   * the next call continues after the last batch.
   */
  async *read(time: number, deadline: Deadline): Batches {
    const settled = instantOf(time - LATENESS_MS);
    if (this.#window.size === 0 && this.#low < instantOf(time - LATENESS_MS - RECENT_MS)) {
      yield* this.#olderThan(settled, deadline);
    }
    yield* this.#poll(deadline);
    this.#low = later(this.#low, settled);
  }

  async *#olderThan(end: Instant, deadline: Deadline): Batches {
    const range = { start: this.#low, end };
    for await (const records of exportRecords(
      this.#client,
      { query: this.#query, range, order: 'asc' },
      deadline,
    )) {
      const last = records.at(-1);
      // Batches contain whole instants.
      if (last) this.#low = nextInstant(last.time);
      yield records;
    }
    this.#low = end;
  }

  async *#poll(deadline: Deadline): Batches {
    const from = this.#window.startRead(millisecondsOf(this.#low));
    const cells = await this.#countCells(later(this.#low, instantOf(from)), deadline);
    const counts = this.#counts;
    this.#counts = new Map(cells.map(({ start, count }) => [start, Math.min(count, counts.get(start) ?? 0)]));
    const grown = cells.filter(({ start, count }) => count > (counts.get(start) ?? 0));
    for (const run of runsOf(grown)) {
      yield* this.#readRun(run, from, deadline);
      for (const { start, count } of run) this.#counts.set(start, count);
    }
  }

  /** Returns the cells with records from `start` on, in order of time. */
  async #countCells(start: Instant, deadline: Deadline): Promise<Cell[]> {
    const query = this.#query.within({ start, end: FOREVER });
    if (!query) return [];
    const stats = `stats by (${TIME}:${CELL_MS}ms) count() as n`;
    const rows = await this.#client.counts(query, stats, deadline.within(REQUEST_MS));
    return rows
      .map((row) => ({ start: millisecondsOf(instantIn(row, TIME)), count: numberIn(row, 'n') }))
      .sort((left, right) => left.start - right.start);
  }

  /** Yields the new records of adjacent cells. Splits the run if its records are too long for one request. */
  async *#readRun(run: readonly Cell[], from: number, deadline: Deadline): Batches {
    const slices = this.#client.slicer.of(deadline);
    let records: readonly LogRecord[];
    try {
      records = await this.#recordsIn(run, from, deadline);
    } catch (error) {
      if (!isPageTooLong(error) || run.length === 1) throw error;
      const middle = run.length >> 1;
      yield* this.#readRun(run.slice(0, middle), from, deadline);
      yield* this.#readRun(run.slice(middle), from, deadline);
      return;
    }
    const fresh: LogRecord[] = [];
    for (const record of records) {
      if (slices.spent) await slices.next();
      if (this.#window.isNew(keyOf(record), millisecondsOf(record.time))) fresh.push(record);
    }
    yield fresh;
  }

  async #recordsIn(run: readonly Cell[], from: number, deadline: Deadline): Promise<readonly LogRecord[]> {
    const [first, last] = [run[0]?.start ?? 0, run.at(-1)?.start ?? 0];
    const start = later(later(instantOf(first), instantOf(from)), this.#low);
    const query = this.#query.within({ start, end: instantOf(last + CELL_MS) });
    if (!query) return [];
    const maxBytes = run.length === 1 ? MAX_INSTANT_BYTES : MAX_PAGE_BYTES;
    const pipes = [fieldsPipe(this.#query.fields)];
    const rows = await this.#client.allRows(query, pipes, deadline.within(REQUEST_MS), maxBytes);
    const slices = this.#client.slicer.of(deadline);
    return inOrder(await recordsOf(rows, slices), 'asc', slices);
  }
}

/** Groups adjacent cells into runs with about MAX_RECORDS records at most. */
function runsOf(cells: readonly Cell[]): Cell[][] {
  const runs: Cell[][] = [];
  let records = 0;
  for (const cell of cells) {
    const run = runs.at(-1);
    const isAdjacent = run?.at(-1)?.start === cell.start - CELL_MS;
    if (run && isAdjacent && records < MAX_RECORDS) run.push(cell);
    else {
      runs.push([cell]);
      records = 0;
    }
    records += cell.count;
  }
  return runs;
}

function keyOf({ time, namespace, pod, container, log }: LogRecord): string {
  return `${time}\0${namespace}\0${pod}\0${container}\0${log}`;
}
