// Queries the store: one question, and the rows of its answer, within the time of a call.
import type { IncomingMessage } from 'node:http';
import type { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { type BoundedSignal, boundedSignal } from '../../../../concurrency/bounded-signal.ts';
import { Turns } from '../../../../concurrency/turns.ts';
import type { Deadline } from '../../../deadline.ts';
import { MAX_PAGE_BYTES, newPageTooLong } from '../../../page-limit.ts';
import type { Question } from '../selection/question.ts';
import type { Connection } from './connection.ts';
import { refusalOf, statusOf } from './refusal.ts';
import { BrokenAnswerError, type Row, rowsOf, rowsOfAll } from './rows.ts';

const QUERY_PATH = '/select/logsql/query';
/** Grace on top of the time limit, for the store to say that it was not enough. */
const GRACE_MS = 500;
/** The time for one request of an export, which may take long, but not because a store hangs. */
export const REQUEST_MS = 60_000;
/** Bytes of the lines of one time: where a collector knows no more than seconds, they are many. */
export const MAX_MOMENT_BYTES = 4 * MAX_PAGE_BYTES;
/** Thousands of counts are much shorter; what is longer is no answer, and must not fill the memory. */
const MAX_SHORT_BYTES = 16 << 20;
/** Bytes that are parsed at once. */
const ONE_PIECE = 1 << 16;

export class Queries {
  /** Shared by all who read answers of the store. */
  readonly turns: Turns;
  readonly #connection: Connection;

  constructor(connection: Connection, turns = new Turns()) {
    this.#connection = connection;
    this.turns = turns;
  }

  /** Throws StatusErrors. Ending the iteration ends the work in the store. */
  rows(
    question: Question,
    pipes: readonly string[],
    deadline: Deadline,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    return this.read(question, pipes, deadline, rowsOf);
  }

  /** The same, with what `reader` makes of the answer. */
  async *read<Read>(
    question: Question,
    pipes: readonly string[],
    deadline: Deadline,
    reader: (body: AsyncIterable<Buffer>, turns: Turns) => AsyncIterable<Read>,
  ): AsyncGenerator<Read, void, undefined> {
    using bounded = boundedSignal(deadline.signal, deadline.leftMs + GRACE_MS);
    let answer: IncomingMessage | undefined;
    try {
      answer = await this.#ask(question, pipes, deadline, bounded.signal);
      yield* reader(answer, this.turns);
    } catch (error) {
      throw this.#statusOf(error, deadline, bounded);
    } finally {
      answer?.destroy();
    }
  }

  /**
   * All of them: for answers that are known to be short, or may be longer than `maxBytes`: then it throws
   * newPageTooLong().
   */
  async allRows(
    question: Question,
    pipes: readonly string[],
    deadline: Deadline,
    maxBytes?: number,
  ): Promise<Row[]> {
    using bounded = boundedSignal(deadline.signal, deadline.leftMs + GRACE_MS);
    try {
      const answer = await this.#ask(question, pipes, deadline, bounded.signal);
      // Most answers come in one piece with their headers, and are complete by now.
      if (answer.complete && answer.readableLength <= ONE_PIECE) return await rowsAtOnce(answer, this.turns);
      const body =
        maxBytes === undefined
          ? upTo(MAX_SHORT_BYTES, answer, () => new BrokenAnswerError('it is too long'))
          : upTo(maxBytes, answer, newPageTooLong);
      return await allIn(rowsOf(body, this.turns));
    } catch (error) {
      throw this.#statusOf(error, deadline, bounded);
    }
  }

  #statusOf(error: unknown, { signal, isOver }: Deadline, { isLate }: BoundedSignal): StatusError {
    return statusOf(error, signal, isOver || isLate, this.#connection.silentMs);
  }

  /** Whatever happens behind it, who reads the answer to its end or destroys it ends the work in the store. */
  async #ask(
    { lines, extraFilters }: Question,
    pipes: readonly string[],
    deadline: Deadline,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    deadline.signal.throwIfAborted();
    const query = [lines, ...pipes].join(' | ');
    const args = { query, extra_filters: extraFilters, timeout: `${deadline.leftMs}ms` };
    const answer = await this.#connection.post(QUERY_PATH, args, signal);
    if (answer.statusCode === 200) return answer;
    try {
      throw await refusalOf(answer);
    } finally {
      answer.destroy();
    }
  }
}

async function* upTo(
  maxBytes: number,
  body: AsyncIterable<Buffer>,
  tooLong: () => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong();
    yield chunk;
  }
}

/** What has come of an answer of which all has come. Its connection is free for the next question then. */
function allOf(answer: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve) => {
    const body: unknown = answer.read();
    const ended = (): void => resolve(Buffer.isBuffer(body) ? body : NOTHING);
    answer.once('end', ended).once('close', ended);
  });
}

const NOTHING = Buffer.alloc(0);

// Functions of their own: who has waited for the answer keeps the last that was awaited, as forget() tells.

async function rowsAtOnce(answer: IncomingMessage, turns: Turns): Promise<Row[]> {
  const body = await allOf(answer);
  await turns.next();
  return rowsOfAll(body);
}

async function allIn(pieces: AsyncIterable<readonly Row[]>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const rows of pieces) for (const row of rows) all.push(row);
  return all;
}
