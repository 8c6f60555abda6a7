// Exports all lines in order, one window of time after the other. A window has as many lines as fit into the memory, so
// no log stays open while a slow client reads.
import type { Turns } from '../../../../concurrency/turns.ts';
import type { Coverage, Instant, LogRecord, Order } from '../../../log-store.ts';
import { type LogLine, toRecord } from '../reading/log-line.ts';
import type { LogScan } from '../reading/log-scan.ts';
import type { MemoryBudget } from '../reading/memory-budget.ts';
import { ExportWindows } from './export-windows.ts';
import { WindowLines } from './window-lines.ts';

export interface ExportOptions {
  readonly scan: LogScan;
  readonly order: Order;
  /** End of the time range, exclusive. */
  readonly end: Instant;
  readonly memory: MemoryBudget;
  readonly turns: Turns;
}

/** Share of the memory for the first window: it is small, so that the first lines arrive soon. */
const FIRST_SHARE = 1 / 64;
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
    const lines = new WindowLines({ order, memory: share, maxBytes });
    const { begin } = window;
    await scan.readWindow(window, (_, rank) => lines.sinkFor(rank, begin));
    // The lines of an incomplete window can be out of order.
    if (scan.isOver) break;
    const { firstDropped, bytes } = lines;
    window = windows.next(window, { firstDropped, bytes, room: share.room });
    for await (const sorted of lines.sorted(turns)) yield* batchesOf(sorted, scan);
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
    if (first !== undefined && first !== now) scan.shortfalls.rotated(log, now ?? first);
  }
}

function least(times: readonly (Instant | undefined)[]): Instant | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

function greatest(times: readonly (Instant | undefined)[]): Instant | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}
