// A page of lines. The store sorts everything that it is asked for, by time alone: so it is asked for a short time that
// should hold enough lines, then for longer ones; lines of the time at which a page ends are all fetched and sorted here.
import { forget } from '../../../../memory/forgotten.ts';
import type { Deadline } from '../../../deadline.ts';
import { earlier, later } from '../../../instant.ts';
import type { Instant, LogRecord, Order } from '../../../log-store.ts';
import { isPageTooLong, MAX_PAGE_BYTES } from '../../../page-limit.ts';
import type { Overview } from '../counting/overview.ts';
import { behind, instantAt, nanosecondsOf } from '../requests/nanoseconds.ts';
import { MAX_MOMENT_BYTES, type Queries } from '../requests/queries.ts';
import { inOrder, recordFields, recordsOf } from '../requests/record.ts';
import { numberIn } from '../requests/row-values.ts';
import type { Row } from '../requests/rows.ts';
import { TIME } from '../selection/logsql.ts';
import type { Question, QuestionAbout, Range, Search } from '../selection/question.ts';
import { type Position, positionBehind } from './position.ts';

export interface PageWanted extends Search {
  /** The question of which every line that is found is wanted; it may take the store longer. */
  readonly exactQuestion: QuestionAbout;
  /** Says also how many lines the other question finds that are not wanted. */
  readonly overview: Overview;
  readonly order: Order;
  readonly from: number;
  readonly size: number;
  readonly after: Position | undefined;
}

export interface PageFound {
  readonly records: LogRecord[];
  readonly next: Position | undefined;
}

/** Lines that are skipped may be longer than a page may be read; those that are wanted may not. */
export async function readPage(queries: Queries, wanted: PageWanted, deadline: Deadline): Promise<PageFound> {
  try {
    return await new PageReader(queries, wanted, deadline).read();
  } catch (error) {
    if (!isPageTooLong(error) || wanted.from === 0) throw error;
  }
  const after = await positionAt(queries, wanted, deadline);
  if (!after) return { records: [], next: undefined };
  return new PageReader(queries, { ...wanted, from: 0, after }, deadline).read();
}

/** Behind the lines that are skipped, of which only the times are read; undefined where there are no more lines. */
async function positionAt(
  queries: Queries,
  wanted: PageWanted,
  deadline: Deadline,
): Promise<Position | undefined> {
  const { exactQuestion: question, overview, from } = wanted;
  if (!overview.span) return undefined;
  const isMeant = (): boolean => true;
  const all = { ...wanted, question, isMeant, overview: { ...overview, others: 0 } };
  const found = await new PageReader(queries, all, deadline).first(`fields ${TIME}`, overview.span, from);
  return found.length < from ? undefined : positionBehind(found);
}

/** Lines that are fetched to be left out because a position says so. It comes from outside, so more have to be there. */
const TRUSTED = 10_000;
/** How many times the lines wanted a first guess should hold. */
const MARGIN = 2n;
const GROWTH = 8n;

class PageReader {
  readonly #queries: Queries;
  readonly #wanted: PageWanted;
  readonly #deadline: Deadline;

  constructor(queries: Queries, wanted: PageWanted, deadline: Deadline) {
    this.#queries = queries;
    this.#wanted = wanted;
    this.#deadline = deadline;
  }

  async read(): Promise<PageFound> {
    const { order, from, size, after, fields } = this.#wanted;
    const range = rangeLeft(this.#wanted);
    if (size === 0 || !range) return { records: [], next: undefined };
    const skipped = from + (after ? await this.#skippedBy(after) : 0);
    const found = await this.first(recordFields(fields), range, skipped + size + 1);
    const isMore = found.length > skipped + size;
    if (isMore) await this.#completeEnd(found, skipped + size);
    const records = await inOrder(found, order, this.#queries.turns);
    forget(found);
    const start = from + (after ? givenOf(records, after) : 0);
    records.splice(start + size);
    // Those that are left out count too: the next page begins behind them.
    const next = isMore ? (positionBehind(records) ?? after) : undefined;
    records.splice(0, start);
    return { records, next };
  }

  /** The first so many, or all; in the order of time. `columns`: what of them is read, with the time. */
  async first(columns: string, range: Range, count: number): Promise<LogRecord[]> {
    const { question, fields, isMeant, overview, order, size, after } = this.#wanted;
    const [start, end] = [nanosecondsOf(range.start), nanosecondsOf(range.end)];
    const sort = `sort by (${TIME}${order === 'asc' ? '' : ' desc'})`;
    let { others } = overview;
    // Where a page ends among many lines of one time, those that were given are read again: fewer would not get on.
    const maxBytes = after && after.given > size ? MAX_MOMENT_BYTES : MAX_PAGE_BYTES;
    let width = (MARGIN * (end - start) * BigInt(count)) / BigInt(Math.max(1, overview.count)) + 1n;
    for (;;) {
      const isWhole = width >= end - start;
      const part = order === 'asc' ? { start, end: start + width } : { start: end - width, end };
      const limit = count + others;
      const asked = question(isWhole ? range : { start: instantAt(part.start), end: instantAt(part.end) });
      const rows = asked ? await this.#rows(asked, [columns, `${sort} limit ${limit}`], maxBytes) : [];
      const found = await recordsOf(rows, fields, this.#queries.turns, isMeant);
      // Lines that are not wanted may have come since they were counted: then there is more behind these.
      const isMore = found.length < count && rows.length === limit;
      forget(rows);
      if (found.length >= count || (isWhole && !isMore)) {
        found.splice(count);
        return found;
      }
      if (isMore) others = (others + 1) * 2;
      else width *= GROWTH;
    }
  }

  async #skippedBy({ time, given }: Position): Promise<number> {
    if (given <= TRUSTED) return given;
    const asked = this.#wanted.question(momentOf(time));
    if (!asked) return 0;
    const [row = {}] = await this.#rows(asked, ['stats count() as n']);
    return Math.min(given, numberIn(row, 'n'));
  }

  /** The first `count` may end among lines of one time, of which the store gave any: then all of that time are there. */
  async #completeEnd(found: LogRecord[], count: number): Promise<void> {
    const { question, fields, isMeant } = this.#wanted;
    const time = found.at(-1)?.time;
    if (time === undefined) return;
    const before = found.findIndex((record) => record.time === time);
    found.length = before;
    const asked = before === count ? undefined : question(momentOf(time));
    if (!asked) return;
    const rows = await this.#rows(asked, [recordFields(fields)], MAX_MOMENT_BYTES);
    for (const record of await recordsOf(rows, fields, this.#queries.turns, isMeant)) found.push(record);
    forget(rows);
  }

  #rows(asked: Question, pipes: readonly string[], maxBytes?: number): Promise<Row[]> {
    return this.#queries.allRows(asked, pipes, this.#deadline, maxBytes);
  }
}

function momentOf(time: Instant): Range {
  return { start: time, end: behind(time) };
}

/** How many of these are those given before; they are the first. */
function givenOf(records: readonly LogRecord[], { time, given }: Position): number {
  const others = records.findIndex((record) => record.time !== time);
  return Math.min(given, others === -1 ? records.length : others);
}

/** What is left of the time that has lines, from where the page begins. */
function rangeLeft({ overview: { span }, order, after }: PageWanted): Range | undefined {
  if (!span || !after) return span;
  const { start, end } = span;
  const left =
    order === 'asc'
      ? { start: later(start, after.time), end }
      : { start, end: earlier(end, behind(after.time)) };
  return left.start < left.end ? left : undefined;
}
