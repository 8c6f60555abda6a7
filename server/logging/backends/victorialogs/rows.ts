// Parser of VictoriaLogs responses: one JSON object per line, with string values.
import { parseBoundedJSON } from '../../../../apis/reading/bounded-json.ts';
import { ByteChunks } from '../../../../apis/reading/byte-chunks.ts';
import { COMMA } from '../../../../apis/reading/json-bytes.ts';
import { LineTooLongError } from '../../../../apis/reading/line-splitter.ts';
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { parseInstant } from '../../store/instant.ts';
import type { Instant } from '../../store/log-store.ts';
import { MalformedResponseError, newMalformedResponse } from './store-error.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Longer than any line that the store accepts: 2 MiB, as JSON escapes. */
const MAX_LINE = 16 << 20;
const NEWLINE = 0x0a;
const START = Buffer.from('[');
const END = Buffer.from(']');

/** Yields the rows of each chunk. Throws MalformedResponseError for a response that is not JSON lines, or is truncated. */
export async function* rowsOf(
  body: AsyncIterable<Buffer>,
  slices: TimeSlices,
): AsyncGenerator<readonly Row[], void, undefined> {
  const pending = new ByteChunks();
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      pending.add(chunk);
      if (pending.length > MAX_LINE) throw new LineTooLongError(MAX_LINE);
      continue;
    }
    const lines = [...pending.take(), chunk.subarray(0, end)];
    if (end + 1 < chunk.length) pending.add(chunk.subarray(end + 1));
    await slices.next();
    yield parsedRows(lines);
  }
  if (pending.length > 0) throw new MalformedResponseError('in the middle of a line');
}

/** One JSON.parse() of a whole chunk is faster than one for each line. */
function parsedRows(lines: readonly Buffer[]): Row[] {
  const json = Buffer.concat([START, ...lines, END]);
  // A string of JSON contains no raw newline.
  for (let at = json.indexOf(NEWLINE); at !== -1; at = json.indexOf(NEWLINE, at)) json[at] = COMMA;
  const rows = parsed(json);
  if (!Array.isArray(rows)) throw new MalformedResponseError(storeMessageIn(Buffer.concat(lines)));
  if (!rows.every(isRecord)) throw new MalformedResponseError('a line is not an object');
  return rows;
}

function parsed(json: Buffer): unknown {
  try {
    return parseBoundedJSON(json);
  } catch {
    return undefined;
  }
}

/** Returns the error message of the store. Other lines contain logs of users, which must not reach the log of this server. */
function storeMessageIn(lines: Buffer): string {
  const text = lines.toString('utf8');
  return text.split('\n').find((line) => line.startsWith('remoteAddr: ')) ?? 'a line is not JSON';
}

export function numberIn(row: Row, name: string): number {
  const value = row[name];
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw newMalformedResponse('a count is not a number');
  return number;
}

export function instantIn(row: Row, name: string): Instant {
  const instant = parseInstant(row[name]);
  if (instant === undefined) throw newMalformedResponse('a time is invalid');
  return instant;
}
