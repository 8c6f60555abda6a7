// Reads the answer of a query: one JSON object of texts a line. Many lines are parsed at once, which is the fastest way.
import { LineTooLongError } from '../../../cluster/line-splitter.ts';
import type { Turns } from '../../turns.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Longer than any line that the store takes. */
const MAX_LINE = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/** What the store says in the middle of an answer when it can not go on. */
export class BrokenAnswerError extends Error {
  constructor(words: string) {
    super(`the answer breaks off: ${words.slice(-500)}`);
    this.name = 'BrokenAnswerError';
  }
}

/** The rows of each piece as they come; throws when the answer is not what it should be, or ends too early. */
export async function* rowsOf(
  body: AsyncIterable<Buffer>,
  turns: Turns,
): AsyncGenerator<readonly Row[], void, undefined> {
  let pending: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      pending.push(chunk);
      length += chunk.length;
      if (length > MAX_LINE) throw new LineTooLongError(MAX_LINE);
      continue;
    }
    const complete = chunk.subarray(0, end);
    await turns.next();
    yield parse(pending.length === 0 ? complete : Buffer.concat([...pending, complete]));
    pending = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    length = chunk.length - end - 1;
  }
  if (length > 0) throw new BrokenAnswerError('in the middle of a line');
}

function parse(lines: Buffer): readonly Row[] {
  const text = lines.toString('utf8');
  // A raw newline can not be inside JSON's strings.
  const rows = parsed(`[${text.replaceAll('\n', ',')}]`);
  if (!Array.isArray(rows)) throw new BrokenAnswerError(spoken(text));
  if (!rows.every(isRow)) throw new BrokenAnswerError('a line is no object');
  return rows;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

/** The store's own words among lines of logs, which must not get into ours. */
function spoken(text: string): string {
  return text.split('\n').find((line) => line.startsWith('remoteAddr: ')) ?? 'a line is not JSON';
}
