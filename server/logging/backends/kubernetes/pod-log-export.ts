// Export of all selected lines, sorted by time. The export reads one time window completely into memory, sends its
// lines, and then reads the next window. Thus no log request stays open while a slow client reads.
import type { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import { BEGINNING, earlier, instantOf, later, millisecondsOf } from '../../instant.ts';
import type { Coverage, Instant, LogRecord, Order } from '../../log-store.ts';
import { DISORDER_S, shifted } from './kubelet-time.ts';
import { type LinePosition, type LogLine, toRecord } from './log-line.ts';
import type { LogScan, Window } from './log-scan.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { WindowLines } from './window-lines.ts';

export interface ExportOptions {
  readonly scan: LogScan;
  readonly order: Order;
  /** The time range that the caller is allowed to read. */
  readonly range: Window;
  readonly memory: MemoryBudget;
  readonly slicer: TimeSlicer;
}

/** Share of the memory for the first window. Small, so that the client soon gets the first lines. */
const FIRST_MEMORY_SHARE = 1 / 64;
const BATCH_LINES = 250;
const BATCH_LENGTH = 1 << 20;

export async function* exportLines(
  options: ExportOptions,
): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
  const { scan, order, range, memory, slicer } = options;
  const firstLines = await scan.timesOf('first');
  const lastLines = order === 'desc' ? await scan.timesOf('last') : [];
  const [first = range.to] = sortedTimes(firstLines);
  const windows = new ExportWindows(order, {
    first: later(first, range.from),
    last: sortedTimes(lastLines).at(-1),
    end: range.to,
  });
  let [window, count] = [windows.first(), 0];
  while (window && !scan.isOver) {
    using share = memory.share();
    const maxBytes = count++ === 0 ? memory.limit * FIRST_MEMORY_SHARE : Number.POSITIVE_INFINITY;
    const lines = new WindowLines({ order, memory: share, maxBytes });
    const { begin } = window;
    await scan.readWindow(window, (_, rank) => lines.sinkFor(rank, begin));
    // An incomplete window is not sent: the client could not resume behind its last line without a gap.
    if (scan.isOver) break;
    const { firstDropped, bytes } = lines;
    window = windows.next(window, { firstDropped, bytes, room: share.room });
    for await (const sorted of lines.sorted(slicer)) yield* batchesOf(sorted, scan);
  }
  if (scan.isOver) scan.shortfalls.timedOut(scan.logs.length);
  else if (count > 1) await reportRotation(scan, firstLines);
  return { shortfalls: scan.shortfalls.list() };
}

function* batchesOf(
  lines: readonly LogLine[],
  { logs }: LogScan,
): Generator<readonly LogRecord[], void, undefined> {
  let [batch, length]: [LogRecord[], number] = [[], 0];
  for (const line of lines) {
    batch.push(toRecord(line, logs));
    length += line.text.length;
    if (batch.length < BATCH_LINES && length < BATCH_LENGTH) continue;
    yield batch;
    [batch, length] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** Adds a shortfall for each log whose first line has changed: it was rotated or replaced during the export. */
async function reportRotation(scan: LogScan, before: readonly (Instant | undefined)[]): Promise<void> {
  const after = await scan.timesOf('first');
  for (const [rank, log] of scan.logs.entries()) {
    const [first, now] = [before[rank], after[rank]];
    if (first !== undefined && first !== now) scan.addRotated(log, now ?? first);
  }
}

function sortedTimes(times: readonly (Instant | undefined)[]): Instant[] {
  return times.filter((time) => time !== undefined).toSorted();
}

interface ExportWindow extends Window {
  /** Position of the first line of the window in the requested order; undefined: all lines of the window. */
  readonly begin?: LinePosition;
}

interface WindowResult {
  /** The first line that did not fit into the memory. */
  readonly firstDropped: LinePosition | undefined;
  /** Bytes of the lines that did fit. */
  readonly bytes: number;
  /** Maximum bytes of the next window. */
  readonly room: number;
}

/** Times of the first and last lines of all logs. */
interface LineTimes {
  readonly first: Instant;
  /** Undefined if unknown. */
  readonly last: Instant | undefined;
  /** End of the time range, exclusive. */
  readonly end: Instant;
}

/** Length of the first window, as a share of the time from the first to the last line. */
const FIRST_WIDTH_SHARE = 1 / 32;
const MIN_WIDTH_MS = 1_000;
const MAX_GROWTH = 16;
/** Share of the memory that the lines of a window are planned to fill. */
const FILLED_SHARE = 0.75;

/**
 * Division of the time range into windows. The length of a window follows from the bytes per time of the last window.
 * If its lines do not fit into the memory, the next window begins at the first line that was dropped.
 */
class ExportWindows {
  readonly #order: Order;
  readonly #start: Instant;
  readonly #last: Instant;
  readonly #end: Instant;

  constructor(order: Order, { first, last, end }: LineTimes) {
    this.#order = order;
    this.#start = shifted(first, -DISORDER_S);
    this.#last = earlier(last ?? end, end);
    this.#end = end;
  }

  first(): ExportWindow | undefined {
    const width = (millisecondsOf(this.#last) - millisecondsOf(this.#start)) * FIRST_WIDTH_SHARE;
    if (this.#start >= this.#end) return undefined;
    if (this.#order === 'asc')
      return this.#window(this.#start, moved(this.#start, Math.max(MIN_WIDTH_MS, width)));
    return this.#window(moved(this.#last, -Math.max(MIN_WIDTH_MS, width)), this.#end);
  }

  /** Undefined after the last window. */
  next(
    { from, to, begin }: ExportWindow,
    { firstDropped, bytes, room }: WindowResult,
  ): ExportWindow | undefined {
    const [first, last] = this.#order === 'asc' ? [later(from, this.#start), to] : [to, from];
    const span = millisecondsOf(firstDropped?.time ?? last) - millisecondsOf(begin?.time ?? first);
    const growth = Math.min(MAX_GROWTH, (FILLED_SHARE * room) / Math.max(1, bytes));
    const width = Math.max(MIN_WIDTH_MS, Math.abs(span) * growth);
    if (this.#order === 'asc') {
      const at = firstDropped?.time ?? to;
      return at < this.#end ? this.#window(at, moved(at, width), firstDropped) : undefined;
    }
    const at = firstDropped?.time ?? from;
    if (at <= this.#start && !firstDropped) return undefined;
    // `to` is exclusive, so the window ends 1 ms after the dropped line.
    const end = firstDropped ? earlier(to, moved(at, 1)) : from;
    return this.#window(moved(at, -width), end, firstDropped);
  }

  /** The window with the first line has no start, because a clock that was set back causes earlier lines. */
  #window(from: Instant, to: Instant, begin?: LinePosition): ExportWindow {
    return {
      from: from <= this.#start ? BEGINNING : from,
      to: earlier(to, this.#end),
      ...(begin ? { begin } : {}),
    };
  }
}

/** Adds milliseconds, and rounds down to a millisecond. */
function moved(instant: Instant, ms: number): Instant {
  return instantOf(Math.max(0, Math.floor(millisecondsOf(instant) + ms)));
}
