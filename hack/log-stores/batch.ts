import type { Progress } from '../terminal/progress.ts';
import type { LogRecord, LogRecords } from './record.ts';

/** Lines of JSON that are sent in one request. */
export interface Batch {
  readonly text: string;
  readonly records: number;
}

export interface LoadOptions {
  readonly signal?: AbortSignal;
  readonly progress?: Progress;
  /** Records in one request. */
  readonly batch?: number;
}

/** Large enough to keep a store busy, small enough to hold several of them. */
const BATCH = 5_000;
/** Requests under way: while the store works on one, the next is made. */
const UNDER_WAY = 2;

/**
 * Sends all records, a batch at a time and never more than two at once, so that neither we nor the store hold more
 * than that. Returns how many there were; the first batch that fails ends it.
 */
export async function sendBatches(
  title: string,
  records: LogRecords,
  options: LoadOptions & {
    /** The lines of one record, each with its newline. */
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
      failed.abort(error); // the first one is the reason; it ends the others, whoever waits for which
      throw error;
    }
    sent += batch.records;
    options.progress?.(`${title}: ${sent.toLocaleString('en')} lines loaded`, true);
  };
  try {
    for await (const batch of batches(records, options.lines, options.batch ?? BATCH)) {
      signal.throwIfAborted();
      if (underWay.size >= UNDER_WAY) await Promise.race(underWay);
      const sending = send(batch).finally(() => underWay.delete(sending));
      underWay.add(sending);
      sending.catch(() => undefined); // its reason is that of the signal
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
