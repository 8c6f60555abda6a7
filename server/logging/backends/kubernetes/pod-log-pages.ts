// Reader of one page of a log query. The first page reads all lines of the time range, because it returns the total.
// Pages with a cursor, and queries without a total, read time windows only until the page is full.
import type { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import { earlier, instantOf, later, millisecondsOf } from '../../instant.ts';
import type { LogPage, Order, PageRequest, Selection, Total } from '../../log-store.ts';
import { PAGE_CUT } from '../../page-limit.ts';
import { earliestBegin } from './line-filter.ts';
import { comparePositions, type LogLine, toRecord } from './log-line.ts';
import type { LineSink, LogScan, Window } from './log-scan.ts';
import type { MemoryShare } from './memory-budget.ts';
import { formatPosition, type PagePosition, parsePosition } from './page-position.ts';
import { TopLines } from './top-lines.ts';

export interface PageOptions {
  readonly scan: LogScan;
  readonly selection: Selection;
  readonly memory: MemoryShare;
  readonly slicer: TimeSlicer;
}

/** Lines to read for a page: lines to skip (`from`), or the lines to return. */
interface Part {
  readonly order: Order;
  readonly limit: number;
  readonly after: PagePosition | undefined;
  /** Whether all lines of the time range are read, for the total. */
  readonly isCounted: boolean;
  /** Whether only positions are stored, without text. */
  readonly withoutText: boolean;
}

interface PartLines {
  readonly lines: readonly LogLine[];
  /** Number of matching lines; meaningful only if the part was counted. */
  readonly total: Total;
  readonly hasMore: boolean;
  readonly isCut: boolean;
}

/** Reads a page. Throws NotSupported for an invalid `after`. */
export async function readPage(request: PageRequest, options: PageOptions): Promise<LogPage> {
  const { scan } = options;
  const { order, size, from, after, uncounted = false } = request;
  let position = after === undefined ? undefined : parsePosition(after, scan.logs);
  const isCounted = !uncounted && position === undefined;
  let counted: Total | undefined;
  // Skipped lines are stored without text, so that more of them fit into the memory; several rounds if they still do
  // not.
  for (let left = size === 0 ? 0 : from; left > 0; ) {
    const part = { order, limit: left, after: position, isCounted: isCounted && !counted, withoutText: true };
    const skipped = await readPart(part, options);
    counted ??= skipped.total;
    position = positionBehind(skipped.lines, counted);
    if (!skipped.hasMore || !position || isOver(scan)) return page([], counted, undefined, scan);
    left -= skipped.lines.length;
  }
  const part = { order, limit: size, after: position, isCounted: isCounted && !counted, withoutText: false };
  const { lines, total, hasMore, isCut } = await readPart(part, options);
  const known = counted ?? position?.total ?? total;
  const isExact = !uncounted && known.relation === 'eq' && scan.isComplete;
  const result: Total = { count: known.count, relation: isExact ? 'eq' : 'gte' };
  if (isCut) scan.shortfalls.add(PAGE_CUT.reason, PAGE_CUT.message);
  return page(lines, result, hasMore ? positionBehind(lines, result) : undefined, scan);
}

function page(
  lines: readonly LogLine[],
  total: Total,
  next: PagePosition | undefined,
  { logs, shortfalls }: LogScan,
): LogPage {
  const records = lines.map((line) => toRecord(line, logs));
  return { total, records, next: next && formatPosition(next, logs), shortfalls: shortfalls.list() };
}

function positionBehind(lines: readonly LogLine[], total: Total): PagePosition | undefined {
  const [first, line] = [lines[0], lines.at(-1)];
  if (!first || !line) return undefined;
  return { line, total, span: Math.abs(millisecondsOf(line.time) - millisecondsOf(first.time)) };
}

async function readPart(
  { order, limit, after, isCounted, withoutText }: Part,
  { scan, selection, memory, slicer }: PageOptions,
): Promise<PartLines> {
  const top = new TopLines({ order, limit, memory });
  const sign = order === 'asc' ? 1 : -1;
  let count = 0;
  const sinkFor = (_: unknown, rank: number): LineSink => ({
    onLine: (time, text, ordinal) => {
      count++;
      if (after && sign * comparePositions({ time, rank, ordinal }, after.line) <= 0) return;
      top.offer(time, rank, ordinal, withoutText ? '' : text);
    },
    // In ascending order, lines after the first dropped one cannot get into the page.
    until: () => (isCounted || order === 'desc' ? undefined : top.firstDropped?.time),
  });
  if (isCounted) await scan.readAll(sinkFor);
  else {
    const range = { from: earliestBegin(selection), to: selection.range.end };
    for (const window of pageWindows(order, range, after)) {
      if (top.isFull || isOver(scan)) break;
      await scan.readWindow(window, sinkFor);
    }
  }
  const lines = await top.sorted(slicer);
  const hasMore = lines.length > 0 && top.firstDropped !== undefined;
  const isCut = top.outOfMemory && lines.length < limit;
  top.clear();
  return { lines, total: scan.total(count), hasMore, isCut };
}

/** Returns true after the time limit, and adds the shortfall. */
function isOver(scan: LogScan): boolean {
  if (scan.isOver) scan.shortfalls.timedOut(scan.logs.length);
  return scan.isOver;
}

const MIN_WIDTH_MS = 60_000;
/** The first window is this many times as long as the previous page, because lines are not spread evenly. */
const SPAN_MARGIN = 4;
/** Factor between the lengths of two consecutive windows. */
const GROWTH = 16;
/** Windows before the one that covers the rest of the range. Few, because each window is a request for each log. */
const MAX_WINDOWS = 2;

/**
 * Time windows of a page. Ascending: one window, because reading stops when the page is full. Descending: windows of
 * growing length from the end backwards, because the pod log API reads forwards only.
 */
function* pageWindows(
  order: Order,
  range: Window,
  after: PagePosition | undefined,
): Generator<Window, void, undefined> {
  const begin = after?.line.time;
  if (order === 'asc') {
    yield { from: later(range.from, begin ?? range.from), to: range.to };
    return;
  }
  let to = begin === undefined ? range.to : earlier(range.to, instantOf(millisecondsOf(begin) + 1));
  let width = Math.max(MIN_WIDTH_MS, (after?.span ?? 0) * SPAN_MARGIN);
  for (let n = 0; n < MAX_WINDOWS && to > range.from; n++, width *= GROWTH) {
    const from = later(range.from, instantOf(Math.max(0, millisecondsOf(to) - width)));
    yield { from, to };
    to = from;
  }
  if (to > range.from) yield { from: range.from, to };
}
