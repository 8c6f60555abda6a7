// Pages of pod log lines, sorted by time, that fit into the memory budget. A query reads one page, an export reads
// consecutive pages. A query without a cursor reads the whole time range, to count the matching lines.
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { compareText, earlier, instantOf, isInstant, later, millisecondsOf } from '../../store/instant.ts';
import type {
  ExportBatches,
  Instant,
  LogPage,
  Order,
  PageRequest,
  Selection,
  Total,
} from '../../store/log-store.ts';
import { PAGE_CUT } from '../../store/page-limit.ts';
import { newForeignCursor } from '../../store/store-errors.ts';
import { type ContainerName, compareContainers, STORE } from './container-log.ts';
import { earliestBegin } from './line-filter.ts';
import type { MemoryBudget, MemoryShare } from './line-memory.ts';
import { type LogLine, toRecord } from './log-line.ts';
import type { LogScan, SinkFor, Window } from './log-scan.ts';
import { TopLines } from './top-lines.ts';

interface PageOptions {
  readonly scan: LogScan;
  readonly selection: Selection;
  readonly memory: MemoryBudget;
  readonly slices: TimeSlices;
}

/**
 * Position of the last line of a page. It names the container of the line, because the index of a log in the list of
 * selected logs can change between requests. Both runs of a container count as one log: they have no line of the same
 * nanosecond.
 */
interface PagePosition {
  readonly time: Instant;
  readonly container: ContainerName;
  readonly ordinal: number;
}

/** Position in a cursor. With the total, the next page need not read all logs. */
interface Cursor {
  readonly position: PagePosition;
  readonly total: Total;
}

/** The lines to read for a page. */
interface LinesRequest {
  readonly order: Order;
  /** Maximum number of lines; the memory can hold fewer. */
  readonly limit: number;
  readonly after: PagePosition | undefined;
  /** Whether the lines of one time window suffice, although the page is not full. */
  readonly isWindow?: boolean;
  /** Whether all lines of the time range are read, for the total. */
  readonly isCounted?: boolean;
  /** Width of the first time window, in ms. Undefined in ascending order: reading stops when the page is full. */
  readonly widthMs?: number | undefined;
}

interface PageLines {
  readonly lines: readonly LogLine[];
  /** Number of matching lines that were read. */
  readonly count: number;
  /** Position of the last line, if lines can follow. */
  readonly next: PagePosition | undefined;
  /** Length of the time that the lines cover, in ms. */
  readonly spanMs: number;
  /** Whether the memory was too small for the page. */
  readonly isCut: boolean;
}

/** Width of the first time window, in ms. */
const FIRST_WIDTH_MS = 60_000;

/** Reads a page. Throws NotSupported for an invalid `after`. */
export async function readPage(request: PageRequest, options: PageOptions): Promise<LogPage> {
  const { scan, memory } = options;
  const { order, size, from, uncounted = false } = request;
  const cursor = request.after === undefined ? undefined : parseCursor(request.after);
  let [after, total, skipped] = [cursor?.position, cursor?.total, size === 0 ? 0 : from];
  for (;;) {
    using share = memory.share();
    const isCounted = !uncounted && total === undefined;
    // The pod log API reads forwards only.
    const widthMs = order === 'desc' ? FIRST_WIDTH_MS : undefined;
    const limit = skipped + size;
    const read = await readLines({ order, limit, after, isCounted, widthMs }, share, options);
    const { lines, next, isCut } = read;
    total ??= scan.total(read.count);
    if (next && lines.length <= skipped && !scan.isOver) {
      // The memory holds only a part of the lines to skip.
      skipped -= lines.length;
      after = next;
      continue;
    }
    if (isCut) scan.shortfalls.add(PAGE_CUT.reason, PAGE_CUT.message);
    const isExact = !uncounted && total.relation === 'eq' && scan.isComplete;
    const known: Total = { count: total.count, relation: isExact ? 'eq' : 'gte' };
    return {
      total: known,
      records: lines.slice(skipped).map((line) => toRecord(line, scan.logs)),
      next: next && formatCursor({ position: next, total: known }),
      shortfalls: scan.shortfalls.list(),
    };
  }
}

/** Lines of the first page. Few, so that the client soon gets the first lines. */
const FIRST_LINES = 1_000;
const BATCH_LINES = 250;
const MAX_GROWTH = 16;
/** Share of the memory that the lines of a time window are planned to fill. */
const FILLED_SHARE = 0.75;

/**
 * Sends a page before it reads the next one, so no request to the pod log API stays open while a slow client reads.
 */
export async function* exportLines(order: Order, options: PageOptions): ExportBatches {
  const { scan, memory } = options;
  let page: PageLines | undefined;
  for (let [limit, widthMs] = [FIRST_LINES, FIRST_WIDTH_MS]; page ? page.next : true; ) {
    using share = memory.share();
    page = await readLines({ order, limit, after: page?.next, isWindow: true, widthMs }, share, options);
    // An incomplete page is not sent: the client could not resume behind its last line without a gap.
    if (scan.isOver) break;
    // The bytes per time of this page determine the length of the next time window.
    const growth = Math.min(MAX_GROWTH, (FILLED_SHARE * share.room) / Math.max(1, share.held));
    [limit, widthMs] = [Number.POSITIVE_INFINITY, Math.max(1_000, page.spanMs * growth)];
    for (let at = 0; at < page.lines.length; at += BATCH_LINES) {
      yield page.lines.slice(at, at + BATCH_LINES).map((line) => toRecord(line, scan.logs));
    }
  }
  if (scan.isOver) scan.shortfalls.timedOut(scan.logs.length);
  return { shortfalls: scan.shortfalls.list() };
}

/** Reads the first lines after a position. The lines remain in `memory`. */
async function readLines(
  { order, limit, after, isWindow, isCounted, widthMs }: LinesRequest,
  memory: MemoryShare,
  { scan, selection, slices }: Omit<PageOptions, 'memory'>,
): Promise<PageLines> {
  const top = new TopLines({ order, limit, memory });
  const sign = order === 'asc' ? 1 : -1;
  const range = rangeAfter(after, order, { from: earliestBegin(selection), to: selection.range.end });
  let count = 0;
  const sinkFor: SinkFor = (log, rank) => {
    const side = after ? compareContainers(log, after.container) : 0;
    return {
      onLine: (time, text, ordinal) => {
        count++;
        if (after && sign * (compareText(time, after.time) || side || ordinal - after.ordinal) <= 0) return;
        top.offer(time, rank, ordinal, text);
      },
      // In ascending order, lines after the first dropped one cannot get into the page.
      until: () => (isCounted || order === 'desc' ? undefined : top.firstDropped?.time),
    };
  };
  /** The last time window that was read. */
  let read = range;
  for (const window of pageWindows(order, range, isCounted ? undefined : widthMs)) {
    if (scan.isOver) scan.shortfalls.timedOut(scan.logs.length);
    if (scan.isOver || top.isFull || (isWindow && top.size > 0)) break;
    await scan.readWindow(window, sinkFor);
    read = window;
  }
  const lines = await top.sorted(slices);
  const [first, last] = [lines[0], lines.at(-1)];
  const isDropped = top.firstDropped !== undefined;
  const isEnd = order === 'asc' ? read.to === range.to : read.from === range.from;
  const isMore = isDropped || (!isEnd && !scan.isOver);
  const container = last && scan.logs[last.rank];
  return {
    lines,
    count,
    next: isMore && last && container ? { time: last.time, container, ordinal: last.ordinal } : undefined,
    spanMs: isDropped && first && last ? widthOf({ from: first.time, to: last.time }) : widthOf(read),
    isCut: top.outOfMemory && lines.length < limit,
  };
}

function widthOf({ from, to }: Window): number {
  return Math.abs(millisecondsOf(to) - millisecondsOf(from));
}

/** Factor between the lengths of two consecutive windows. */
const GROWTH = 16;
/** Windows before the one that covers the rest of the range. Few, because each window is a request for each log. */
const MAX_WINDOWS = 2;

/** Time windows of growing length from the position on, in the requested order; one window without `widthMs`. */
function* pageWindows(
  order: Order,
  { from, to }: Window,
  widthMs: number | undefined,
): Generator<Window, void, undefined> {
  let width = Math.ceil(widthMs ?? 0);
  for (let n = 0; n < MAX_WINDOWS && width > 0 && width < widthOf({ from, to }); n++, width *= GROWTH) {
    const border = instantOf(order === 'asc' ? millisecondsOf(from) + width : millisecondsOf(to) - width);
    yield order === 'asc' ? { from, to: border } : { from: border, to };
    [from, to] = order === 'asc' ? [border, to] : [from, border];
  }
  if (from < to) yield { from, to };
}

/** The part of a time range that can have lines after the position. */
function rangeAfter(after: PagePosition | undefined, order: Order, { from, to }: Window): Window {
  if (!after) return { from, to };
  if (order === 'asc') return { from: later(from, after.time), to };
  return { from, to: earlier(to, instantOf(millisecondsOf(after.time) + 1)) };
}

const CURSOR = /^([^/]{30})\/([^/]{1,63})\/([^/]{1,253})\/([^/]{1,63})\/(\d{1,9})\/(\d{1,15})([eg])$/;

function formatCursor({ position: { time, container: name, ordinal }, total }: Cursor): string {
  const count = `${total.count}${total.relation === 'eq' ? 'e' : 'g'}`;
  return [time, name.namespace, name.pod, name.container, ordinal, count].join('/');
}

/** Throws NotSupported for invalid text. */
function parseCursor(text: string): Cursor {
  const [, time, namespace = '', pod = '', container = '', ordinal, count, relation] =
    CURSOR.exec(text) ?? [];
  if (!isInstant(time)) throw newForeignCursor(STORE);
  return {
    position: { time, container: { namespace, pod, container }, ordinal: Number(ordinal) },
    total: { count: Number(count), relation: relation === 'e' ? 'eq' : 'gte' },
  };
}
