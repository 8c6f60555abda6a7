// Exports all lines in order, one window of time after the other. A window has as many lines as fit into the memory, so
// no log stays open while a slow client reads.
import type { TimeSlicer } from '../../../../concurrency/time-slicer.ts';
import { BEGINNING, earlier, instantOf, later, millisecondsOf } from '../../../instant.ts';
import type { Coverage, Instant, LogRecord, Order } from '../../../log-store.ts';
import { DISORDER_S, shifted } from '../reading/kubelet-time.ts';
import { type LinePosition, type LogLine, toRecord } from '../reading/log-line.ts';
import type { LogScan, Window } from '../reading/log-scan.ts';
import type { MemoryBudget } from '../reading/memory-budget.ts';
import { WindowLines } from './window-lines.ts';

export interface ExportOptions {
  readonly scan: LogScan;
  readonly order: Order;
  /** The time range that the caller may see. */
  readonly range: Window;
  readonly memory: MemoryBudget;
  readonly slicer: TimeSlicer;
}

/** Share of the memory for the first window: it is small, so that the first lines arrive soon. */
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
    // The lines of an incomplete window can be out of order.
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

/** A log with another first line has lost lines between two windows, or belongs to another run. */
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
  /** The first line of the window; undefined: all lines between the times. */
  readonly begin?: LinePosition;
}

interface WindowResult {
  /** The first line that did not fit. */
  readonly firstDropped: LinePosition | undefined;
  /** Bytes of the lines that fit. */
  readonly bytes: number;
  /** Bytes that the next window may take. */
  readonly room: number;
}

/** Times of the lines of all logs. */
interface LineTimes {
  readonly first: Instant;
  /** Undefined if unknown. */
  readonly last: Instant | undefined;
  /** End of the time range, exclusive. */
  readonly end: Instant;
}

/** Share of the whole time that the first window has. */
const FIRST_WIDTH_SHARE = 1 / 32;
const MIN_WIDTH_MS = 1_000;
const MAX_GROWTH = 16;
/** Share of the memory that a window is expected to fill. */
const FILLED_SHARE = 0.75;

/** Divides the time range into windows whose lines probably fit into the memory, by the density of the last window. */
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
    // The window ends behind the dropped line.
    const end = firstDropped ? earlier(to, moved(at, 1)) : from;
    return this.#window(moved(at, -width), end, firstDropped);
  }

  /** A window at the first line has no start: lines before it exist where a clock was set back. */
  #window(from: Instant, to: Instant, begin?: LinePosition): ExportWindow {
    return {
      from: from <= this.#start ? BEGINNING : from,
      to: earlier(to, this.#end),
      ...(begin ? { begin } : {}),
    };
  }
}

/** By milliseconds, rounded down. */
function moved(instant: Instant, ms: number): Instant {
  return instantOf(Math.max(0, Math.floor(millisecondsOf(instant) + ms)));
}
