// Exports all selected records from VictoriaLogs, sorted by time. The export reads one time window after the other,
// because VictoriaLogs sorts each response in memory.
import { isTimeout } from '../../../../apis/meta/v1/errors.ts';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { nextInstant } from '../../store/instant.ts';
import type { Batches, Deadline, Instant, LogRecord, Order } from '../../store/log-store.ts';
import { newNotSupported } from '../../store/store-errors.ts';
import { countRecords } from './counts.ts';
import type { Range } from './logsql.ts';
import { type Client, MAX_INSTANT_BYTES, REQUEST_MS } from './query-client.ts';
import { fieldsPipe, inOrder, recordOf, sortPipe } from './record.ts';
import type { SelectionQuery } from './selection-query.ts';
import { isOutOfMemory, newMalformedResponse, STORE } from './store-error.ts';
import { TimeWindows } from './time-windows.ts';

interface ExportOptions {
  readonly query: SelectionQuery;
  readonly range: Range;
  readonly order: Order;
}

export interface ExportTuning {
  /** Approximate maximum number of records of a window. */
  readonly windowRecords: number;
  /** Timeout of a request, in ms, after which the rest is requested again. So a slow client does not occupy the store. */
  readonly requestMs: number;
  /** Timeout of the retry of a request that returned nothing within `requestMs`, in ms. After it, the export fails. */
  readonly retryMs: number;
  /** Maximum number of records with the same time, and of their characters; this server sorts them. */
  readonly instantRecords: number;
  readonly instantLength: number;
}

const TUNING: ExportTuning = {
  windowRecords: 100_000,
  requestMs: 10_000,
  retryMs: REQUEST_MS,
  instantRecords: 200_000,
  instantLength: MAX_INSTANT_BYTES,
};
/** Windows become smaller by this factor when the store has too little memory to sort one. */
const SHRINKING = 4;

/** Yields batches in order. All records with the same time are in one batch. */
export async function* exportRecords(
  client: Client,
  { query, range, order }: ExportOptions,
  deadline: Deadline,
  tuning = TUNING,
): Batches {
  const byName = query.withinByName(range);
  if (!byName) return;
  const overview = await countRecords(client, byName, deadline.within(REQUEST_MS));
  const ended = new AbortController();
  const reading = deadline.until(ended.signal);
  const windows = new TimeWindows(client, query, order, overview, reading);
  let { windowRecords } = tuning;
  /** `first` resolves when the store has sorted the window; `batches` has the others. */
  const start = async () => {
    const window = await windows.next(windowRecords);
    if (!window) return undefined;
    const batches = readWindow(client, { query, range: window, order }, reading, tuning);
    const first = batches.next();
    // Prevents an unhandled rejection; the promise is awaited later.
    first.catch(() => undefined);
    return { window, first, batches };
  };
  try {
    for (let current = await start(); current; ) {
      const { window, first, batches } = current;
      try {
        await first;
      } catch (error) {
        if (!isOutOfMemory(error) || isInstant(window)) throw error;
        windowRecords = Math.max(1, Math.floor(windowRecords / SHRINKING));
        windows.putBack(window);
        current = await start();
        continue;
      }
      // The store sorts the next window while this one is read.
      const next = start();
      next.catch(() => undefined);
      const { value } = await first;
      if (value) yield value;
      yield* batches;
      current = await next;
    }
  } finally {
    ended.abort();
  }
}

/** Reads one time window. A request that takes too long is followed by another one for the rest of the window. */
async function* readWindow(
  client: Client,
  { query, range, order }: ExportOptions,
  deadline: Deadline,
  tuning: ExportTuning,
): Batches {
  const { requestMs, retryMs } = tuning;
  let rest = range;
  let isRetry = false;
  while (rest.start < rest.end) {
    let isEmpty = true;
    try {
      const request = deadline.within(isRetry ? retryMs : requestMs);
      const options = { query, range: rest, order };
      for await (const batch of sortedBatches(client, options, request, tuning)) {
        isEmpty = false;
        const last = batch.at(-1)?.time ?? rest.start;
        rest =
          order === 'asc' ? { start: nextInstant(last), end: rest.end } : { start: rest.start, end: last };
        yield batch;
      }
      return;
    } catch (error) {
      const isCallOver = deadline.signal.aborted || deadline.isOver;
      if (isCallOver || !isTimeout(error) || (isEmpty && isRetry)) throw error;
      isRetry = isEmpty;
    }
  }
}

/** Reads a range in one request. Batches are not empty, and contain whole instants. */
async function* sortedBatches(
  client: Client,
  { query, range, order }: ExportOptions,
  deadline: Deadline,
  tuning: ExportTuning,
): Batches {
  const found = query.within(range);
  if (!found) return;
  // Records with the same time are not sorted by the store, so it needs no memory for them.
  const sort = isInstant(range) ? [] : [sortPipe(order)];
  const slices = client.slicer.of(deadline);
  let held: LogRecord[] = [];
  let length = 0;
  let last: Instant | undefined;
  for await (const rows of client.rows(found, [fieldsPipe(query.fields), ...sort], deadline)) {
    for (const row of rows) {
      const record = recordOf(row);
      held.push(record);
      length += record.log.length;
    }
    const begin = beginOfLastInstant(held);
    if (begin === 0) {
      if (held.length > tuning.instantRecords || length > tuning.instantLength) throw tooManyRecords(tuning);
      continue;
    }
    const batch = await sorted(held.slice(0, begin), order, last, slices);
    last = batch.at(-1)?.time;
    held = held.slice(begin);
    length = held.reduce((sum, { log }) => sum + log.length, 0);
    yield batch;
  }
  if (held.length > 0) yield await sorted(held, order, last, slices);
}

/**
 * Sorts records with equal times, which the store returns in any order. `previous`: the time of the last record of the
 * previous batch.
 */
async function sorted(
  records: readonly LogRecord[],
  order: Order,
  previous: Instant | undefined,
  slices: TimeSlices,
): Promise<readonly LogRecord[]> {
  const batch: LogRecord[] = [];
  let last = previous;
  for (let begin = 0, end = 0; begin < records.length; begin = end) {
    const first = records[begin];
    if (!first) break;
    const { time } = first;
    if (last !== undefined && (order === 'asc' ? time <= last : time >= last)) {
      throw newMalformedResponse('the records are not sorted');
    }
    last = time;
    while (records[end]?.time === time) end++;
    if (end - begin === 1) batch.push(first);
    else for (const record of await inOrder(records.slice(begin, end), order, slices)) batch.push(record);
  }
  return batch;
}

function isInstant({ start, end }: Range): boolean {
  return nextInstant(start) === end;
}

function beginOfLastInstant(records: readonly LogRecord[]): number {
  const last = records.at(-1)?.time;
  // Fast path: all records have the same time.
  if (records[0]?.time === last) return 0;
  return records.findLastIndex(({ time }) => time !== last) + 1;
}

function tooManyRecords({ instantRecords, instantLength }: ExportTuning): Error {
  const message = `more than ${instantRecords} records or ${instantLength >> 20} MiB have the same time and cannot be sorted; use fewer namespaces or another time range`;
  return newNotSupported(STORE, 'start_time', message);
}
