// Reader of one page of log records from VictoriaLogs. The reader queries a short time range first, because
// VictoriaLogs sorts all matching records.
import {
  earlier,
  instantOfNanoseconds,
  isQueryable,
  later,
  nanosecondsOf,
  nextInstant,
} from '../../store/instant.ts';
import type { Deadline, Instant, LogRecord, Order } from '../../store/log-store.ts';
import { MAX_PAGE_BYTES } from '../../store/page-limit.ts';
import { newForeignCursor } from '../../store/store-errors.ts';
import type { Overview } from './counts.ts';
import { type Range, TIME } from './logsql.ts';
import { type Client, MAX_INSTANT_BYTES } from './query-client.ts';
import { fieldsPipe, inOrder, recordsOf, sortPipe } from './record.ts';
import { numberIn } from './rows.ts';
import type { SelectionQuery } from './selection-query.ts';
import { STORE } from './store-error.ts';

/** The position of a cursor: a time, and the number of records of that time that earlier pages contain. */
interface Position {
  readonly time: Instant;
  readonly offset: number;
}

interface PageOptions {
  readonly query: SelectionQuery;
  readonly overview: Overview;
  readonly order: Order;
  /** Records to skip; 0 together with `after`. */
  readonly from: number;
  readonly size: number;
  readonly after: Position | undefined;
}

interface Page {
  readonly records: LogRecord[];
  readonly next: Position | undefined;
}

/** Maximum offset that is used unchecked. Larger offsets are limited to the store's count, because cursors are untrusted. */
const TRUSTED_OFFSET = 10_000;
/** The first range is sized for this multiple of the requested number of records. */
const MARGIN = 2n;
/** Factor by which a range that is too short grows. */
const GROWTH = 8n;

const EMPTY: Page = { records: [], next: undefined };

export class PageReader {
  readonly #client: Client;
  readonly #options: PageOptions;
  readonly #deadline: Deadline;

  constructor(client: Client, options: PageOptions, deadline: Deadline) {
    this.#client = client;
    this.#options = options;
    this.#deadline = deadline;
  }

  async read(): Promise<Page> {
    const { overview, order, from, size, query } = this.#options;
    if (size === 0 || from >= overview.count) return EMPTY;
    const after = from > 0 ? await this.#positionAfter(from) : this.#options.after;
    const range = rangeBehind(overview.span, order, after);
    if (!range || (from > 0 && !after)) return EMPTY;
    const offset = after ? await this.#offsetOf(after) : 0;
    const pipe = fieldsPipe(query.fields);
    // Records of earlier pages with the same time are read again.
    const maxBytes = offset > size ? MAX_INSTANT_BYTES : MAX_PAGE_BYTES;
    const found = await this.#first(offset + size + 1, range, pipe, maxBytes);
    const isMore = found.length > offset + size;
    if (isMore) await this.#completeLastTime(found, offset + size);
    const records = await inOrder(found, order, this.#client.slicer.of(this.#deadline));
    const start = after ? Math.min(offset, countOfTime(records, after.time)) : 0;
    return {
      records: records.slice(start, start + size),
      next: isMore ? (positionBehind(records.slice(0, start + size)) ?? after) : undefined,
    };
  }

  /** Returns the position after the first `count` records, and reads only their times; undefined if there are fewer. */
  async #positionAfter(count: number): Promise<Position | undefined> {
    const { span } = this.#options.overview;
    const skipped = span ? await this.#first(count, span, `fields ${TIME}`, MAX_PAGE_BYTES) : [];
    return skipped.length < count ? undefined : positionBehind(skipped);
  }

  /** Returns the first `count` records of the range by time, or all records if there are fewer. */
  async #first(count: number, range: Range, pipe: string, maxBytes: number): Promise<LogRecord[]> {
    const { overview, order } = this.#options;
    const [start, end] = [nanosecondsOf(range.start), nanosecondsOf(range.end)];
    const pipes = [pipe, `${sortPipe(order)} limit ${count}`];
    let width = (MARGIN * (end - start) * BigInt(count)) / BigInt(Math.max(1, overview.count)) + 1n;
    for (;;) {
      const isWhole = width >= end - start;
      const part =
        order === 'asc'
          ? { start: range.start, end: instantOfNanoseconds(start + width) }
          : { start: instantOfNanoseconds(end - width), end: range.end };
      const found = await this.#records(isWhole ? range : part, pipes, maxBytes);
      if (found.length >= count || isWhole) return found;
      width *= GROWTH;
    }
  }

  /** Returns the offset, limited to the number of records with this time. */
  async #offsetOf({ time, offset }: Position): Promise<number> {
    if (offset <= TRUSTED_OFFSET) return offset;
    const query = this.#options.query.within(rangeOf(time));
    if (!query) return 0;
    const [row = {}] = await this.#client.counts(query, 'stats count() as n', this.#deadline);
    return Math.min(offset, numberIn(row, 'n'));
  }

  /**
   * Removes the records with the last time, because the store returned an arbitrary subset of them. Reads all of them if
   * the page contains some.
   */
  async #completeLastTime(found: LogRecord[], count: number): Promise<void> {
    const time = found.at(-1)?.time;
    if (time === undefined) return;
    found.length = found.findIndex((record) => record.time === time);
    if (found.length === count) return;
    const pipes = [fieldsPipe(this.#options.query.fields)];
    const records = await this.#records(rangeOf(time), pipes, MAX_INSTANT_BYTES);
    for (const record of records) found.push(record);
  }

  async #records(range: Range, pipes: readonly string[], maxBytes: number): Promise<LogRecord[]> {
    const query = this.#options.query.within(range);
    const rows = query ? await this.#client.allRows(query, pipes, this.#deadline, maxBytes) : [];
    return recordsOf(rows, this.#client.slicer.of(this.#deadline));
  }
}

function rangeOf(time: Instant): Range {
  return { start: time, end: nextInstant(time) };
}

/** Returns the number of records with this time at the start of the list. */
function countOfTime(records: readonly LogRecord[], time: Instant): number {
  const others = records.findIndex((record) => record.time !== time);
  return others === -1 ? records.length : others;
}

/** Returns the part of the span from the position on; undefined when it is empty. */
function rangeBehind(span: Range | undefined, order: Order, after: Position | undefined): Range | undefined {
  if (!span || !after) return span;
  const rest =
    order === 'asc'
      ? { start: later(span.start, after.time), end: span.end }
      : { start: span.start, end: earlier(span.end, nextInstant(after.time)) };
  return rest.start < rest.end ? rest : undefined;
}

export function writePosition({ time, offset }: Position): string {
  return `${time} ${offset}`;
}

/** Throws BadRequest for a position of another store. */
export function readPosition(text: string): Position {
  const [time, offset = '', ...more] = text.split(' ');
  if (!isQueryable(time) || !/^[1-9]\d{0,8}$/.test(offset) || more.length > 0) throw newForeignCursor(STORE);
  return { time, offset: Number(offset) };
}

/** Returns the position after the last record; `records` contains all earlier records with its time. */
function positionBehind(records: readonly LogRecord[]): Position | undefined {
  const time = records.at(-1)?.time;
  if (time === undefined) return undefined;
  const before = records.findLastIndex((record) => record.time !== time);
  return { time, offset: records.length - 1 - before };
}
