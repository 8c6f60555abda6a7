// Reads the answer of a query: one JSON object of texts a line. Many lines are parsed at once, which is the fastest way.
import { isRecord } from '../../../../../apis/reading/unknown-value.ts';
import { LineTooLongError } from '../../../../cluster/reflector/line-splitter.ts';
import type { Turns } from '../../../../concurrency/turns.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Longer than any line that the store takes. */
export const MAX_LINE = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/** What the store says in the middle of an answer when it cannot go on. */
export class BrokenAnswerError extends Error {
  constructor(words: string) {
    super(`the answer breaks off: ${words.slice(-500)}`);
    this.name = 'BrokenAnswerError';
  }
}

/** Pieces of whole lines, the newlines included; throws when the answer ends too early. */
async function* piecesOf(body: AsyncIterable<Buffer>, turns: Turns): AsyncGenerator<Buffer, void, undefined> {
  let pending: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      pending.push(chunk);
      length += chunk.length;
      if (length > MAX_LINE) throw new LineTooLongError(MAX_LINE);
      continue;
    }
    const complete = chunk.subarray(0, end);
    await turns.next();
    yield pending.length === 0 ? complete : Buffer.concat([...pending, complete]);
    pending = end < chunk.length ? [chunk.subarray(end)] : [];
    length = chunk.length - end;
  }
  if (length > 0) throw new BrokenAnswerError('in the middle of a line');
}

/** The rows of each piece as they come; throws when the answer is not what it should be, or ends too early. */
export async function* rowsOf(
  body: AsyncIterable<Buffer>,
  turns: Turns,
): AsyncGenerator<readonly Row[], void, undefined> {
  for await (const piece of piecesOf(body, turns)) yield rowsIn(piece.toString('utf8', 0, piece.length - 1));
}

/** Of a whole answer that is short. */
export function rowsOfAll(body: Buffer): Row[] {
  if (body.length === 0) return [];
  if (body.at(-1) !== NEWLINE) throw new BrokenAnswerError('in the middle of a line');
  return rowsIn(body.toString('utf8', 0, body.length - 1));
}

/** Of whole lines, the last one without its newline. */
export function rowsIn(text: string): Row[] {
  // A raw newline cannot be inside JSON's strings.
  const rows = parsed(`[${text.replaceAll('\n', ',')}]`);
  if (!Array.isArray(rows)) throw new BrokenAnswerError(spoken(text));
  if (!rows.every(isRecord)) throw new BrokenAnswerError('a line is no object');
  return rows;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The store's own words among lines of logs, which must not get into ours. */
function spoken(text: string): string {
  return text.split('\n').find((line) => line.startsWith('remoteAddr: ')) ?? 'a line is not JSON';
}
