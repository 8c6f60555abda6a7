// Exports all selected pod log lines, sorted by time. The export reads pages that fit into the memory budget.
import type { Coverage, LogRecord, Order } from '../../log-store.ts';
import { type LogLine, toRecord } from './log-line.ts';
import type { LogScan } from './log-scan.ts';
import { FIRST_WIDTH_MS, type PageLines, type PageOptions, readLines } from './pod-log-pages.ts';

/** Lines of the first page. Few, so that the client soon gets the first lines. */
const FIRST_LINES = 1_000;
const BATCH_LINES = 250;
const BATCH_LENGTH = 1 << 20;
const MAX_GROWTH = 16;
/** Share of the memory that the lines of a time window are planned to fill. */
const FILLED_SHARE = 0.75;

/**
 * Sends a page before it reads the next one, so no request to the pod log API stays open while a slow client reads.
 */
export async function* exportLines(
  order: Order,
  options: PageOptions,
): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
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
    yield* batchesOf(page.lines, scan);
  }
  if (scan.isOver) scan.shortfalls.timedOut(scan.logs.length);
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
