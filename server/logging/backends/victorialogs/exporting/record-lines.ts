// The lines of an answer that the store has sorted by time, in batches of whole moments: the order of lines of the same
// time is ours.
import { isAscii } from 'node:buffer';
import { LineTooLongError } from '../../../../cluster/reflector/line-splitter.ts';
import type { Turns } from '../../../../concurrency/turns.ts';
import type { ExportBatch, Instant, LogRecord, Order } from '../../../log-store.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { MAX_MOMENT_BYTES } from '../requests/queries.ts';
import { newNonsense, STORE } from '../requests/refusal.ts';
import { BrokenAnswerError, MAX_LINE } from '../requests/rows.ts';
import { type LineTable, lineTableOf } from './line-table.ts';

export interface LinesWanted {
  readonly order: Order;
  /** Whether a line that the question found is wanted; undefined when each is. Lines of ASCII always are. */
  readonly isMeant: ((record: LogRecord) => boolean) | undefined;
  /** Lines of one moment that may be held to be put in order. */
  readonly maxMoment: number;
}

/** Parsed in one go: a text of more may be one of the large objects of the heap, which live long. */
const PARSED = 100;

/** Lines of whole moments: none of the same time follow. */
export class RecordLines implements ExportBatch {
  readonly #lines: LineTable;
  /** The time of the last line of which the store was read. */
  readonly until: Instant;

  constructor(lines: LineTable, until: Instant) {
    this.#lines = lines;
    this.until = until;
  }

  get length(): number {
    return this.#lines.length;
  }

  get ndjson(): Buffer {
    return this.#lines.bytes;
  }

  *[Symbol.iterator](): Generator<LogRecord, void, undefined> {
    for (let at = 0; at < this.length; at += PARSED)
      yield* this.#lines.records(at, Math.min(this.length, at + PARSED));
  }
}

const NEWLINE = 0x0a;

/** The answer to a question with `recordPipes`, sorted by time. Throws when it is none. */
export async function* recordLinesOf(
  body: AsyncIterable<Buffer>,
  turns: Turns,
  wanted: LinesWanted,
): AsyncGenerator<RecordLines, void, undefined> {
  /** The lines of one moment, of which there may be more, and what came of the next line. */
  let held: Buffer[] = [];
  /** Bytes of that, and of them those behind the last newline. */
  let [length, behind] = [0, 0];
  let until: Instant | undefined;
  /** Bytes that are looked at again for the sake of some more are but half of all. */
  let enough = 0;
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    held.push(chunk);
    length += chunk.length;
    behind = end === 0 ? behind + chunk.length : chunk.length - end;
    if (behind > MAX_LINE) throw new LineTooLongError(MAX_LINE);
    if (behind === length || length < enough) continue;
    if (turns.spent) await turns.next();
    const bytes = joined(held);
    const lines = await lineTableOf(bytes.subarray(0, length - behind), turns);
    const begin = beginOfLastMoment(lines);
    if (lines.length - begin > wanted.maxMoment) throw tooManyAtOnce(wanted.maxMoment);
    if (lines.bytesFrom(begin).length > MAX_MOMENT_BYTES) throw tooLongAtOnce();
    held = [lines.bytesFrom(begin), bytes.subarray(length - behind)];
    length = lengthOf(held);
    enough = begin === 0 ? 2 * length : 0;
    if (begin === 0) continue;
    const batch = await batchOf(lines.first(begin), until, wanted, turns);
    until = batch.until;
    yield batch;
  }
  if (behind > 0) throw new BrokenAnswerError('in the middle of a line');
  const lines = await lineTableOf(joined(held), turns);
  if (lines.length - beginOfLastMoment(lines) > wanted.maxMoment) throw tooManyAtOnce(wanted.maxMoment);
  if (lines.length > 0) yield await batchOf(lines, until, wanted, turns);
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only, ...more] = parts;
  return only && more.length === 0 ? only : Buffer.concat(parts);
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function tooManyAtOnce(lines: number): Error {
  return notOrdered(`more than ${lines} lines have the same time`);
}

function tooLongAtOnce(): Error {
  return notOrdered('the lines that have the same time are too long');
}

function notOrdered(why: string): Error {
  const cure = `${why}, so that they cannot be put in order; ask for fewer namespaces, or for another time`;
  return newNotSupported(STORE, 'start_time', cure);
}

/** The lines are in the order of time. */
function beginOfLastMoment(lines: LineTable): number {
  const last = lines.length - 1;
  let begin = Math.max(0, last);
  while (begin > 0 && lines.compareTimes(begin - 1, last) === 0) begin--;
  return begin;
}

/** `before`: the time that they have to be behind. */
async function batchOf(
  lines: LineTable,
  before: Instant | undefined,
  wanted: LinesWanted,
  turns: Turns,
): Promise<RecordLines> {
  const sign = wanted.order === 'asc' ? 1 : -1;
  const first = lines.timeOf(0);
  if (before !== undefined && (sign === 1 ? first <= before : first >= before)) throw notInOrder();
  let begin = 0;
  for (let line = 1; line <= lines.length; line++) {
    const step = line === lines.length ? sign : lines.compareTimes(line, line - 1) * sign;
    if (step === 0) continue;
    if (line < lines.length && step < 0) throw notInOrder();
    if (line - begin > 1) await lines.sortMoment(begin, line, sign, turns);
    begin = line;
  }
  const until = lines.timeOf(lines.length - 1);
  return new RecordLines(wanted.isMeant ? await meantOf(lines, wanted.isMeant, turns) : lines, until);
}

function notInOrder(): Error {
  return newNonsense('lines that are not in order');
}

async function meantOf(
  lines: LineTable,
  isMeant: (record: LogRecord) => boolean,
  turns: Turns,
): Promise<LineTable> {
  if (isAscii(lines.bytes)) return lines;
  return lines.filter(
    (line) => isAscii(lines.bytesOf(line)) || lines.records(line, line + 1).every(isMeant),
    turns,
  );
}
