// How much one answer, or one piece of a stream, holds: lines may be a mebibyte long, and a thousand of those would keep
// the event loop, and a gigabyte, to themselves.
import type { LogRecord } from './log-store.ts';

/** Characters of the lines of one page. */
const PAGE = 8 << 20;
/** Lines, and characters of them, that are encoded in one go, so that others get their turn. */
const PIECE_LINES = 250;
const PIECE = 1 << 20;

/** How many of the first records make a page; one at least, however long its line is. */
export function fittingPage(records: readonly LogRecord[]): number {
  return fitting(records, 0, records.length, PAGE);
}

export function* pieces(records: readonly LogRecord[]): Generator<readonly LogRecord[], void, undefined> {
  for (let at = 0, count: number; at < records.length; at += count) {
    count = fitting(records, at, PIECE_LINES, PIECE);
    yield records.slice(at, at + count);
  }
}

function fitting(records: readonly LogRecord[], from: number, most: number, characters: number): number {
  const end = Math.min(records.length, from + most);
  let held = 0;
  for (let at = from; at < end; at++) {
    held += records[at]?.log.length ?? 0;
    if (held > characters) return Math.max(1, at - from);
  }
  return end - from;
}
