// Reads an export of a log store to its end.
import type { ExportBatches, LogRecord } from '../../../server/logging/store/log-store.ts';

export async function exported(batches: ExportBatches) {
  const records: LogRecord[] = [];
  let next = await batches.next();
  for (; !next.done; next = await batches.next()) records.push(...next.value);
  return { records, logs: records.map(({ log }) => log), shortfalls: next.value.shortfalls };
}
