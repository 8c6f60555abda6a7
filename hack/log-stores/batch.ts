// Uploads log records to a log store, in concurrent batches.
import type { Progress } from '../terminal/progress.ts';
import type { LogRecord, LogRecords } from './record.ts';

/** JSON lines of one request. */
export interface Batch {
  readonly text: string;
  readonly records: number;
}

export interface LoadOptions {
  readonly signal?: AbortSignal;
  readonly progress?: Progress;
  /** Records per request. */
  readonly batch?: number;
}

/** Large enough to keep a store busy, small enough to hold several batches in memory. */
const BATCH = 5_000;
/** Maximum concurrent requests: the next batch is built while the store handles one. */
const MAX_CONCURRENT = 2;

/** Sends all records in batches, at most two concurrently. Returns their number; rejects at the first failed batch. */
export async function sendBatches(
  title: string,
  records: LogRecords,
  options: LoadOptions & {
    /** The JSON lines of one record, each with its newline. */
    readonly lines: (record: LogRecord) => string;
    readonly send: (batch: Batch, signal: AbortSignal) => Promise<void>;
  },
): Promise<number> {
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  const send = async (batch: Batch): Promise<void> => {
    try {
      await options.send(batch, signal);
    } catch (error) {
      failed.abort(error); // the first error aborts the other requests
      throw error;
    }
    sent += batch.records;
    options.progress?.(`${title}: ${sent.toLocaleString('en')} lines loaded`, true);
  };
  try {
    for await (const batch of batches(records, options.lines, options.batch ?? BATCH)) {
      signal.throwIfAborted();
      if (underWay.size >= MAX_CONCURRENT) await Promise.race(underWay);
      const sending = send(batch).finally(() => underWay.delete(sending));
      underWay.add(sending);
      sending.catch(() => undefined); // the signal has the error
    }
    await Promise.all(underWay);
    signal.throwIfAborted();
    return sent;
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(underWay);
    throw signal.reason;
  }
}

async function* batches(
  records: LogRecords,
  lines: (record: LogRecord) => string,
  size: number,
): AsyncGenerator<Batch> {
  let parts: string[] = [];
  for await (const record of records) {
    parts.push(lines(record));
    if (parts.length === size) {
      yield { text: parts.join(''), records: size };
      parts = [];
    }
  }
  if (parts.length > 0) yield { text: parts.join(''), records: parts.length };
}
