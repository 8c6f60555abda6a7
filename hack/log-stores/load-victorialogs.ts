import { type Batch, type LoadOptions, sendBatches } from './batch.ts';
import type { LogRecords } from './record.ts';

/** Which fields are what, as a collector tells VictoriaLogs; a stream is a container of a pod. */
const FIELDS = new URLSearchParams({
  _time_field: 'time',
  _msg_field: 'log',
  _stream_fields: 'kubernetes.namespace_name,kubernetes.pod_name,kubernetes.container_name',
});

/** Loads the records into a VictoriaLogs; all of them can be queried afterwards. Records that it drops are an error. */
export async function loadVictoriaLogs(
  url: string,
  records: LogRecords,
  options: LoadOptions = {},
): Promise<{ records: number }> {
  const { signal } = options;
  const before = await readCounts(url, signal);
  const count = await sendBatches('VictoriaLogs', records, {
    ...options,
    lines: (record) => `${JSON.stringify(record)}\n`,
    send: (batch, sending) => sendLines(url, batch, sending),
  });
  await ask(`${url}/internal/force_flush`, { signal: signal ?? null });
  const after = await readCounts(url, signal);
  // It answers 200 whatever becomes of single lines.
  const stored = after.ingested - before.ingested - (after.dropped - before.dropped);
  if (stored < count) throw new Error(`VictoriaLogs stored ${stored} of ${count} lines; its log says why`);
  return { records: count };
}

async function sendLines(url: string, batch: Batch, signal: AbortSignal): Promise<void> {
  await ask(`${url}/insert/jsonline?${FIELDS}`, {
    method: 'POST',
    // With the type of a form it would take the body for one, and store nothing.
    headers: { 'content-type': 'application/stream+json' },
    body: batch.text,
    signal,
  });
}

/** Rows that came in and rows that were thrown away since it started. */
async function readCounts(
  url: string,
  signal: AbortSignal | undefined,
): Promise<{ ingested: number; dropped: number }> {
  const text = await ask(`${url}/metrics`, { signal: signal ?? null });
  const total = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  return { ingested: total('vl_rows_ingested_total'), dropped: total('vl_rows_dropped_total') };
}

async function ask(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`VictoriaLogs answered ${response.status}: ${text.slice(0, 500)}`);
  return text;
}
