// Polling loop of a live tail of a log store. The loop survives short outages of the store.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { pause } from '../../concurrency/pause.ts';
import type { Batches } from '../store/log-store.ts';

interface PollingOptions {
  readonly signal: AbortSignal;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** Yields the records since the previous poll. */
  readonly poll: () => Batches;
  /** Time in ms until the next poll. `began`: when the last poll began. */
  readonly pauseMs: (last: { readonly began: number; readonly hasFailed: boolean }) => number;
}

/** Maximum outage of the store, in ms, that a live tail survives. */
const OUTAGE_MS = 60_000;

/** Polls until the signal is aborted. Throws the error of an outage before the first response, or of a long one. */
export async function* polledBatches({ signal, now, poll, pauseMs }: PollingOptions): Batches {
  let respondedAt: number | undefined;
  while (!signal.aborted) {
    const began = now();
    let hasFailed = false;
    try {
      for await (const records of poll()) {
        if (records.length > 0) yield records;
        // Set after the yield too, so that a slow client does not count as an outage.
        respondedAt = now();
      }
      respondedAt = now();
    } catch (error) {
      if (signal.aborted) return;
      const isOutage = error instanceof StatusError && error.code >= 500;
      if (!isOutage || respondedAt === undefined || now() - respondedAt > OUTAGE_MS) throw error;
      hasFailed = true;
    }
    const ms = pauseMs({ began, hasFailed });
    if (ms > 0) await pause(ms, signal);
  }
}
