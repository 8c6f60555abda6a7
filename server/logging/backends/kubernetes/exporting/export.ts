// Exports all lines in order, one window of time after the other. A window has as many lines as fit into the memory, so
// no log stays open while a slow client reads.
import type { Turns } from '../../../../concurrency/turns.ts';
import type { Coverage, Instant, LogRecord, Order } from '../../../log-store.ts';
import { TopLines } from '../paging/top-lines.ts';
import { comparePositions, costOf, type LogLine, toRecord } from '../reading/log-line.ts';
import type { LineSink, LogScan } from '../reading/log-scan.ts';
import type { MemoryBudget, MemoryShare } from '../reading/memory-budget.ts';
import { type ExportWindow, ExportWindows } from './export-windows.ts';

export interface ExportOptions {
  readonly scan: LogScan;
  readonly order: Order;
  /** End of the time range, exclusive. */
  readonly end: Instant;
  readonly memory: MemoryBudget;
  readonly turns: Turns;
}

/** The first window is small, so that the first lines arrive soon. */
const FIRST_SHARE = 1 / 32;
const BATCH_LINES = 250;
const BATCH_LENGTH = 1 << 20;

export async function* exportLines(
  options: ExportOptions,
): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
  const { scan, order, end, memory, turns } = options;
  const firstLines = await scan.timesOf('first');
  const lastLines = order === 'desc' ? await scan.timesOf('last') : [];
  const windows = new ExportWindows(order, {
    first: least(firstLines) ?? end,
    last: greatest(lastLines),
    end,
  });
  let [window, count] = [windows.first(), 0];
  while (window && !scan.isOver) {
    using share = memory.share();
    const maxBytes = count++ === 0 ? memory.limit * FIRST_SHARE : Number.POSITIVE_INFINITY;
    const top = new TopLines({ order, limit: Number.POSITIVE_INFINITY, memory: share, maxBytes });
    await readWindow(scan, window, order, top);
    // The lines of an incomplete window can be out of order.
    if (scan.isOver) break;
    const { firstDropped, bytes } = top;
    window = windows.next(window, { firstDropped, bytes, room: share.room });
    yield* batchesOf(await top.sorted(turns), scan, share);
  }
  if (scan.isOver) scan.shortfalls.timedOut(scan.logs.length);
  else if (count > 1) await reportRotation(scan, firstLines);
  return { shortfalls: scan.shortfalls.list() };
}

async function readWindow(scan: LogScan, window: ExportWindow, order: Order, top: TopLines): Promise<void> {
  const sign = order === 'asc' ? 1 : -1;
  const { begin } = window;
  const sinkFor = (_: unknown, rank: number): LineSink => ({
    onLine: (time, text, ordinal) => {
      if (begin && sign * comparePositions({ time, rank, ordinal }, begin) < 0) return;
      top.offer(time, rank, ordinal, text);
    },
    until: () => (order === 'asc' ? top.firstDropped?.time : undefined),
  });
  await scan.readWindow(window, sinkFor);
}

/** Takes the lines out of the list, and returns their memory once they were handed out. */
function* batchesOf(
  lines: LogLine[],
  scan: LogScan,
  memory: MemoryShare,
): Generator<readonly LogRecord[], void, undefined> {
  lines.reverse();
  while (lines.length > 0) {
    let [count, length, bytes] = [0, 0, 0];
    while (count < Math.min(lines.length, BATCH_LINES) && length < BATCH_LENGTH) {
      const text = lines.at(-++count)?.text ?? '';
      length += text.length;
      bytes += costOf(text);
    }
    yield lines
      .splice(-count)
      .map((line) => toRecord(line, scan.logs))
      .reverse();
    memory.add(-bytes);
  }
}

/** A log with another first line has lost lines between two windows, or belongs to another run. */
async function reportRotation(scan: LogScan, before: readonly (Instant | undefined)[]): Promise<void> {
  const after = await scan.timesOf('first');
  for (const [rank, log] of scan.logs.entries()) {
    const [first, now] = [before[rank], after[rank]];
    if (first !== undefined && first !== now) scan.shortfalls.rotated(log, now ?? first);
  }
}

function least(times: readonly (Instant | undefined)[]): Instant | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

function greatest(times: readonly (Instant | undefined)[]): Instant | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}
