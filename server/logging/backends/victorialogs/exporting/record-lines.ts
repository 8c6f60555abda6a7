// The lines of an answer that the store has sorted by time, in batches of whole moments: the order of lines of the same
// time is ours.
import { isAscii } from 'node:buffer';
import type { ExportBatch, Instant, LogRecord, Order } from '../../../log-store.ts';
import { newNotSupported } from '../../../store-errors.ts';
import type { Turns } from '../../../turns.ts';
import { newNonsense, STORE } from '../requests/refusal.ts';
import { piecesOf } from '../requests/rows.ts';
import { LineTable, lineTableOf } from './line-table.ts';

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
  /** Of one moment, of which there may be more. */
  let held: LineTable[] = [];
  let until: Instant | undefined;
  for await (const piece of piecesOf(body, turns)) {
    const lines = lineTableOf(piece);
    if (lines.length === 0) continue;
    const end = beginOfLastMoment(lines);
    const goesOn = end === 0 && (held[0]?.timeOf(0) ?? lines.timeOf(0)) === lines.timeOf(0);
    const before = goesOn ? [] : [...held, lines.slice(0, end)];
    held = goesOn ? [...held, lines] : [lines.slice(end)];
    if (lengthOf(held) > wanted.maxMoment) throw tooManyAtOnce(wanted.maxMoment);
    if (goesOn) continue;
    const batch = batchOf(LineTable.joined(before), until, wanted);
    until = batch.until;
    yield batch;
  }
  if (held.length > 0) yield batchOf(LineTable.joined(held), until, wanted);
}

function lengthOf(tables: readonly LineTable[]): number {
  return tables.reduce((sum, { length }) => sum + length, 0);
}

function tooManyAtOnce(lines: number): Error {
  return newNotSupported(STORE, 'start_time', `more than ${lines} lines have the same time`);
}

/** The lines are in the order of time. */
function beginOfLastMoment(lines: LineTable): number {
  const last = lines.length - 1;
  let begin = last;
  while (begin > 0 && lines.compareTimes(begin - 1, last) === 0) begin--;
  return begin;
}

/** `before`: the time that they have to be behind. */
function batchOf(lines: LineTable, before: Instant | undefined, wanted: LinesWanted): RecordLines {
  const sign = wanted.order === 'asc' ? 1 : -1;
  const first = lines.timeOf(0);
  if (before !== undefined && (sign === 1 ? first <= before : first >= before)) throw notInOrder();
  let begin = 0;
  for (let line = 1; line <= lines.length; line++) {
    const step = line === lines.length ? sign : lines.compareTimes(line, line - 1) * sign;
    if (step === 0) continue;
    if (line < lines.length && step < 0) throw notInOrder();
    if (line - begin > 1) lines.sortMoment(begin, line, sign);
    begin = line;
  }
  const until = lines.timeOf(lines.length - 1);
  return new Lines(wanted.isMeant ? meantOf(lines, wanted.isMeant) : lines, until);
}

function notInOrder(): Error {
  return newNonsense('lines that are not in order');
}

function meantOf(lines: LineTable, isMeant: (record: LogRecord) => boolean): LineTable {
  if (isAscii(lines.bytes)) return lines;
  return lines.filter((line) => isAscii(lines.bytesOf(line)) || lines.records(line, line + 1).every(isMeant));
}

/** Parsed in one go: a text of more may be one of the large objects of the heap, which live long. */
const PARSED = 100;

class Lines implements RecordLines {
  readonly #lines: LineTable;
  readonly until: Instant;

  constructor(lines: LineTable, until: Instant) {
    this.#lines = lines;
    this.until = until;
  }

  get length(): number {
    return this.#lines.length;
  }

  get bytes(): number {
    return this.#lines.bytes.length;
  }

  get ndjson(): Buffer {
    return this.#lines.bytes;
  }

  *[Symbol.iterator](): Generator<LogRecord, void, undefined> {
    for (let at = 0; at < this.length; at += PARSED)
      yield* this.#lines.records(at, Math.min(this.length, at + PARSED));
  }
}
