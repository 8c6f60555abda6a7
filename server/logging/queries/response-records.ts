// Records of responses and streams: with their ids and, on request, highlights, in pieces that one turn of the event loop
// can encode.
import type { ResponseRecord } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import type { LogRecord } from '../log-store.ts';
import { type LineMatcher, lineMatcher, type Span, searchableLength } from '../matching/line-matcher.ts';
import { idOf } from './record-id.ts';
import { textOf } from './selection.ts';

export interface SlicedCall {
  /** Shares the event loop among queries. */
  readonly turns: TimeSlicer;
  readonly signal: AbortSignal;
}

/** Characters of a line that are searched for highlights; fewer for large patterns. */
const MAX_SEARCHED = 65_536;
/** Highlights of one line: more would multiply the size of the response. */
const MAX_HIGHLIGHTS = 1_000;
const PIECE_LINES = 250;
const PIECE_LENGTH = 1 << 20;

/** Rejects with the signal's reason when it is aborted. */
export async function responseRecords(
  query: LogQuery,
  records: readonly LogRecord[],
  { turns, signal }: SlicedCall,
): Promise<ResponseRecord[]> {
  const text = query.highlight ? textOf(query) : undefined;
  const matcher = text && lineMatcher(text);
  const limit = text ? Math.min(MAX_SEARCHED, searchableLength(text)) : 0;
  const yieldTurn = async (): Promise<void> => {
    if (turns.spent) await turns.next();
    signal.throwIfAborted();
  };
  const highlightsOf = async (line: string): Promise<[number, number][]> => {
    const highlights: [number, number][] = [];
    for (const [begin, end] of matcher ? spansIn(line, matcher, limit) : []) {
      highlights.push([begin, end]);
      if (highlights.length === MAX_HIGHLIGHTS) break;
      await yieldTurn();
    }
    return highlights;
  };
  const result: ResponseRecord[] = [];
  signal.throwIfAborted();
  for (const record of records) {
    await yieldTurn();
    const { log, time, namespace, pod, container } = record;
    const plain = { log, time, namespace, pod, container, id: idOf(record) };
    result.push(query.highlight ? { ...plain, highlights: await highlightsOf(log) } : plain);
  }
  return result;
}

function* spansIn(line: string, matcher: LineMatcher, limit: number): Generator<Span, void, undefined> {
  const isCut = line.length > limit;
  for (const span of matcher.spans(isCut ? line.slice(0, limit) : line)) {
    // A match at the cut may continue behind it, or exist only because of it.
    if (!isCut || span[1] < limit) yield span;
  }
}

/** Pieces that are encoded at once. Reads at most one record ahead. */
export function* pieces<Item extends { readonly log: string }>(
  records: Iterable<Item>,
): Generator<readonly Item[], void, undefined> {
  let piece: Item[] = [];
  let length = 0;
  for (const record of records) {
    length += record.log.length;
    if (piece.length === PIECE_LINES || (piece.length > 0 && length > PIECE_LENGTH)) {
      yield piece;
      [piece, length] = [[], record.log.length];
    }
    piece.push(record);
  }
  if (piece.length > 0) yield piece;
}

/** Whether all of them can be encoded at once. */
export function isOnePiece(records: readonly { readonly log: string }[]): boolean {
  return records.reduce((sum, { log }) => sum + log.length, 0) <= PIECE_LENGTH;
}
