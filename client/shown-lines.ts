// The lines of a log query that a view shows: the newest page, older pages before it, and new lines of a live tail after it.
// They are bounded in their number and in their characters, because a line can have 1 MiB.
import type { LogPage, LogRecord } from './logs.ts';

export interface ShownLines {
  /** The oldest line first. */
  readonly lines: readonly LogRecord[];
  /** Of the next older page; undefined if there is none, or if it does not fit. */
  readonly cursor?: string | undefined;
  /** There are older lines, and they do not fit. */
  readonly isCut: boolean;
}

/** Number of neighbouring lines that are dropped together, so that a view can render them together. */
export const LINE_BLOCK = 50;
const MAX_LINES = 10_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Adds the next older page, the last one when the maximum is reached. */
export function withOlderLines(shown: ShownLines, { records, cursor }: LogPage): ShownLines {
  const lines = [...records.toReversed(), ...shown.lines];
  const isLast = lines.length >= MAX_LINES || excessOf(lines) > 0;
  return { lines, cursor: isLast ? undefined : cursor, isCut: isLast && cursor !== undefined };
}

/** Appends the lines that are not shown yet, which a tail can repeat, and drops the oldest ones beyond the maximum. */
export function withNewLines(shown: ShownLines, records: readonly LogRecord[]): ShownLines {
  const known = new Set(shown.lines.map(({ id }) => id));
  const all = [...shown.lines, ...records.filter(({ id }) => !known.has(id))];
  const lines = newestLines(all);
  // Older pages would then leave a gap.
  return lines.length < all.length ? { lines, isCut: true } : { ...shown, lines };
}

/** The newest lines within the maximum, without whole blocks of older ones. `lines`: the newest one last. */
export function newestLines(lines: readonly LogRecord[]): LogRecord[] {
  return lines.slice(Math.ceil(excessOf(lines) / LINE_BLOCK) * LINE_BLOCK);
}

/** The number of the oldest lines that are beyond the maximum. */
function excessOf(lines: readonly LogRecord[]): number {
  let characters = 0;
  const last = lines.findLastIndex(({ log }, index) => {
    characters += log.length;
    return characters > MAX_CHARACTERS || lines.length - index > MAX_LINES;
  });
  return last + 1;
}
