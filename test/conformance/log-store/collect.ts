// Helper that reads a given number of log records from a live tail.
import type { Batches, LogRecord } from '../../../server/logging/store/log-store.ts';

/** Reads until the given number of records has arrived. */
export async function collect(lines: Batches, arrived: LogRecord[], many: number): Promise<void> {
  while (arrived.length < many) {
    const { done, value } = await lines.next();
    if (done === true) throw new Error(`it ended behind ${arrived.length} lines`);
    arrived.push(...value);
  }
}
