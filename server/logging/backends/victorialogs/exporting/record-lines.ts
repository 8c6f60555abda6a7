// The lines of an answer that the store has sorted by time, in batches of whole moments: the order of lines of the same
// time is ours.
import type { ExportBatch, Instant, LogRecord, Order } from '../../../log-store.ts';
import { isASCII } from '../../../matching/letter-case.ts';
import { newNotSupported } from '../../../store-errors.ts';
import type { Turns } from '../../../turns.ts';
import { byTime } from '../requests/record.ts';
import { newNonsense, STORE } from '../requests/refusal.ts';
import { piecesOf } from '../requests/rows.ts';
import { linesIn, recordsIn, timeOf } from './record-line.ts';

/** Lines of whole moments: none of the same time follow. */
export interface RecordLines extends ExportBatch {
  readonly ndjson: Buffer;
  /** Of its NDJSON. */
  readonly bytes: number;
  /** The time of the last line of which the store was read. */
  readonly until: Instant;
}

export interface LinesWanted {
  readonly order: Order;
  /** Whether a line that the question found is wanted; undefined when each is. Lines of ASCII always are. */
  readonly isMeant: ((record: LogRecord) => boolean) | undefined;
  /** Lines of one moment that may be held to be put in order. */
  readonly maxMoment: number;
}

/** The answer to a question with `recordPipes`, sorted by time. Throws when it is none. */
export async function* recordLinesOf(
  body: AsyncIterable<Buffer>,
  turns: Turns,
  wanted: LinesWanted,
): AsyncGenerator<RecordLines, void, undefined> {
  let held: readonly string[] = [];
  let until: Instant | undefined;
  for await (const piece of piecesOf(body, turns)) {
    const lines = held.concat(linesIn(piece));
    const end = beginOfLastMoment(lines);
    held = lines.slice(end);
    if (held.length > wanted.maxMoment) throw tooManyAtOnce(wanted.maxMoment);
    if (end === 0) continue;
    const batch = batchOf(lines.slice(0, end), until, wanted);
    until = batch.until;
    yield batch;
  }
  if (held.length > 0) yield batchOf(held, until, wanted);
}

function tooManyAtOnce(lines: number): Error {
  return newNotSupported(STORE, 'start_time', `more than ${lines} lines have the same time`);
}

/** The lines are in the order of time. */
function beginOfLastMoment(lines: readonly string[]): number {
  const [first = ''] = lines;
  const time = timeOf(lines.at(-1) ?? '');
  if (timeOf(first) === time) return 0;
  return lines.findLastIndex((line) => timeOf(line) !== time) + 1;
}

/** `before`: the time that they have to be behind. */
function batchOf(lines: readonly string[], before: Instant | undefined, wanted: LinesWanted): RecordLines {
  const given = [...lines];
  const moments: Moment[] = [];
  let until = before;
  for (let begin = 0, end = 0; begin < lines.length; begin = end) {
    const time = timeOf(lines[begin] ?? '');
    if (until !== undefined && (wanted.order === 'asc' ? time <= until : time >= until))
      throw newNonsense('lines that are not in order');
    until = time;
    for (end = begin + 1; end < lines.length && timeOf(lines[end] ?? '') === time; ) end++;
    if (end - begin > 1) moments.push({ begin, end });
  }
  sortMoments(given, moments, wanted.order);
  return new Lines(wanted.isMeant ? meantOf(given, wanted.isMeant) : given, until ?? '');
}

/** Where the lines of one time are. */
interface Moment {
  readonly begin: number;
  readonly end: number;
}

function sortMoments(lines: string[], moments: readonly Moment[], order: Order): void {
  const sign = order === 'asc' ? 1 : -1;
  const tied = moments.flatMap(({ begin, end }) => lines.slice(begin, end));
  const read = recordsIn(tied).map((record, index) => ({ record, line: tied[index] ?? '' }));
  for (const { begin, end } of moments) {
    const moment = read
      .splice(0, end - begin)
      .sort((left, right) => sign * byTime(left.record, right.record));
    for (const [index, { line }] of moment.entries()) lines[begin + index] = line;
  }
}

function meantOf(lines: readonly string[], isMeant: (record: LogRecord) => boolean): string[] {
  return lines.filter((line) => isASCII(line) || recordsIn([line]).every(isMeant));
}

/** Parsed in one go: a text of more may be one of the large objects of the heap, which live long. */
const PARSED = 100;

class Lines implements RecordLines {
  readonly #lines: readonly string[];
  readonly until: Instant;

  constructor(lines: readonly string[], until: Instant) {
    this.#lines = lines;
    this.until = until;
  }

  get length(): number {
    return this.#lines.length;
  }

  get bytes(): number {
    return this.#lines.reduce((sum, { length }) => sum + length + 1, 0);
  }

  get ndjson(): Buffer {
    return Buffer.from(this.length === 0 ? '' : `${this.#lines.join('\n')}\n`, 'latin1');
  }

  *[Symbol.iterator](): Generator<LogRecord, void, undefined> {
    for (let at = 0; at < this.length; at += PARSED) yield* recordsIn(this.#lines.slice(at, at + PARSED));
  }
}
