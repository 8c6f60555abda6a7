// Lines as they come. The store's own tail drops lines of a stream that come late or share a time with the last one it
// gave; so this counts the lines of the last seconds in short cells, again and again, and fetches the cells that have
// more than before. A line is known by its content; of lines that are alike each is given as often as it is there.
import { hash } from 'node:crypto';
import type { Deadline } from '../../../deadline.ts';
import { later } from '../../../instant.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import { isPageTooLong, MAX_PAGE_BYTES } from '../../../page-limit.ts';
import { instantAt, nanosecondsOf } from '../requests/nanoseconds.ts';
import { MAX_MOMENT_BYTES, type Queries } from '../requests/queries.ts';
import { inOrder, recordFields, recordsOf } from '../requests/record.ts';
import { instantIn, numberIn } from '../requests/row-values.ts';
import { TIME } from '../selection/logsql.ts';
import type { Search } from '../selection/question.ts';
import type { RememberedLines } from './remembered-lines.ts';

export interface NewLinesWanted extends Search {
  /** Earlier lines are not wanted. */
  readonly start: Instant;
}

const CELL_NS = 250_000_000n;
/** The time for one request; a reader may take longer for what was found. */
const REQUEST_MS = 30_000;
/** Lines that are fetched at a time, about. */
const MAX_LINES = 5_000;
/** Behind every line. */
const FOREVER: Instant = '9999-12-31T23:59:59.999999999Z';

/** What was given of a cell: digests of lines, how many of each, and of all. */
interface Given {
  readonly times: Map<string, number>;
  lines: number;
}

export class NewLines {
  readonly #queries: Queries;
  readonly #wanted: NewLinesWanted;
  readonly #remembered: RememberedLines;
  /** By the beginnings of cells. */
  readonly #given = new Map<bigint, Given>();

  constructor(queries: Queries, wanted: NewLinesWanted, remembered: RememberedLines) {
    this.#queries = queries;
    this.#wanted = wanted;
    this.#remembered = remembered;
  }

  /** Nothing will be asked for any more. */
  close(): void {
    for (const cell of this.#given.keys()) this.#forget(cell);
  }

  /** What has come at `low` or later and was not given yet, by time; what is earlier is forgotten. */
  async *since(low: Instant, deadline: Deadline): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { start } = this.#wanted;
    const begin = cellAt(nanosecondsOf(later(low, start)));
    for (const cell of this.#given.keys()) if (cell < begin) this.#forget(cell);
    const changed = (await this.#counts(begin, deadline)).filter(
      ({ cell, count }) => count > (this.#given.get(cell)?.lines ?? 0),
    );
    let lines = 0;
    let cells: bigint[] = [];
    for (const { cell, count } of changed) {
      cells.push(cell);
      lines += count;
      if (lines < MAX_LINES) continue;
      yield* this.#linesIn(cells, deadline);
      [lines, cells] = [0, []];
    }
    yield* this.#linesIn(cells, deadline);
  }

  async #counts(begin: bigint, deadline: Deadline): Promise<{ cell: bigint; count: number }[]> {
    const asked = this.#wanted.question({ start: this.#notBefore(begin), end: FOREVER });
    if (!asked) return [];
    const pipe = `stats by (${TIME}:${CELL_NS}ns) count() as n`;
    const rows = await this.#queries.allRows(asked, [pipe], deadline.within(REQUEST_MS));
    return rows
      .map((row) => ({ cell: nanosecondsOf(instantIn(row, TIME)), count: numberIn(row, 'n') }))
      .sort((left, right) => Number(left.cell - right.cell));
  }

  /** `cells`: ascending. */
  async *#linesIn(
    cells: readonly bigint[],
    deadline: Deadline,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    for (const run of runsOf(cells)) yield* this.#linesOf(run, deadline);
  }

  /** Long lines in shorter runs. */
  async *#linesOf(run: Run, deadline: Deadline): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const [first, last] = run;
    let records: readonly LogRecord[];
    try {
      records = await this.#fetch(run, deadline);
    } catch (error) {
      if (!isPageTooLong(error) || first === last) throw error;
      const middle = cellAt((first + last) / 2n);
      yield* this.#linesOf([first, middle], deadline);
      yield* this.#linesOf([middle + CELL_NS, last], deadline);
      return;
    }
    yield await this.#new(records);
  }

  async #fetch([first, last]: Run, deadline: Deadline): Promise<LogRecord[]> {
    const { question, fields } = this.#wanted;
    const asked = question({ start: this.#notBefore(first), end: instantAt(last + CELL_NS) });
    if (!asked) return [];
    const most = first === last ? MAX_MOMENT_BYTES : MAX_PAGE_BYTES;
    const rows = await this.#queries.allRows(
      asked,
      [recordFields(fields)],
      deadline.within(REQUEST_MS),
      most,
    );
    const records = await recordsOf(rows, fields, this.#queries.turns);
    return inOrder(records, 'asc', this.#queries.turns);
  }

  async #new(records: readonly LogRecord[]): Promise<LogRecord[]> {
    const { turns } = this.#queries;
    const seen = new Map<string, number>();
    const found: LogRecord[] = [];
    for (const record of records) {
      if (turns.spent) await turns.next();
      const key = digestOf(record);
      const times = (seen.get(key) ?? 0) + 1;
      seen.set(key, times);
      const cell = cellAt(nanosecondsOf(record.time));
      const given = this.#given.get(cell) ?? { times: new Map<string, number>(), lines: 0 };
      if (times <= (given.times.get(key) ?? 0)) continue;
      if (!given.times.has(key)) this.#remembered.add();
      given.times.set(key, times);
      given.lines++;
      this.#given.set(cell, given);
      if (this.#wanted.isMeant(record)) found.push(record);
    }
    return found;
  }

  #forget(cell: bigint): void {
    this.#remembered.forget(this.#given.get(cell)?.times.size ?? 0);
    this.#given.delete(cell);
  }

  /** The first cell may have begun before what counts. */
  #notBefore(cell: bigint): Instant {
    return later(instantAt(cell), this.#wanted.start);
  }
}

function cellAt(nanoseconds: bigint): bigint {
  return nanoseconds - (nanoseconds % CELL_NS);
}

/** First and last of an unbroken run of cells. */
type Run = readonly [first: bigint, last: bigint];

function runsOf(cells: readonly bigint[]): Run[] {
  const runs: [bigint, bigint][] = [];
  for (const cell of cells) {
    const run = runs.at(-1);
    if (run && run[1] + CELL_NS === cell) run[1] = cell;
    else runs.push([cell, cell]);
  }
  return runs;
}

function digestOf({ time, namespace, pod, container, log }: LogRecord): string {
  const said = `${time}\0${namespace}\0${pod}\0${container}\0${log}`;
  // There may be a million of them: 96 bits, a byte each character.
  return hash('sha256', said, 'binary').slice(0, 12);
}
