// Limits one answer, or one piece of a stream: lines may be a mebibyte long, and a thousand of those would block the
// event loop and take a gigabyte.
import type { LogRecord } from '../log-store.ts';

/** Characters of the lines of one page. */
const PAGE = 8 << 20;
/** Lines, and characters of them, that are encoded in one go, so that others get their turn. */
const PIECE_LINES = 250;
const PIECE = 1 << 20;

/** How many of the first records make a page; one at least, however long its line is. */
export function fittingPage(records: readonly LogRecord[]): number {
  let held = 0;
  for (const [at, { log }] of records.entries()) {
    held += log.length;
    if (held > PAGE) return Math.max(1, at);
  }
  return records.length;
}

/** Whether they are encoded in one go, however many they are. */
export function isOnePiece(records: readonly Pick<LogRecord, 'log'>[]): boolean {
  return records.reduce((sum, { log }) => sum + log.length, 0) <= PIECE;
}

/** Reads no more records than it gives, and one: what they are made of may be very many. */
export function* pieces(records: Iterable<LogRecord>): Generator<readonly LogRecord[], void, undefined> {
  let piece: LogRecord[] = [];
  let held = 0;
  for (const record of records) {
    held += record.log.length;
    if (piece.length === PIECE_LINES || (piece.length > 0 && held > PIECE)) {
      yield piece;
      [piece, held] = [[], record.log.length];
    }
    piece.push(record);
  }
  if (piece.length > 0) yield piece;
}
