// Uploads log records to VictoriaLogs.
import { record } from '../../apis/reading/unknown-value.ts';
import { type Batch, type LoadOptions, sendBatches } from './batch.ts';
import type { LogRecords } from './record.ts';

/** Field mapping, as collectors configure it; a stream is a container of a pod. */
const FIELDS = new URLSearchParams({
  _time_field: 'time',
  _msg_field: 'log',
  _stream_fields: 'kubernetes.namespace_name,kubernetes.pod_name,kubernetes.container_name',
});

/** Loads records and waits until they can be queried. Throws if VictoriaLogs drops records. */
export async function loadVictoriaLogs(
  url: string,
  records: LogRecords,
  options: LoadOptions = {},
): Promise<{ records: number }> {
  const { signal } = options;
  const before = await countLines(url, signal);
  const count = await sendBatches('VictoriaLogs', records, {
    ...options,
    lines: (record) => `${JSON.stringify(record)}\n`,
    send: (batch, sending) => sendLines(url, batch, sending),
  });
  await ask(`${url}/internal/force_flush`, { signal: signal ?? null });
  // VictoriaLogs responds 200 even if it drops lines, and its metrics are a second old.
  const stored = (await countLines(url, signal)) - before;
  if (!(stored >= count))
    throw new Error(`VictoriaLogs stored ${stored} of ${count} lines; its log says why`);
  return { records: count };
}

async function sendLines(url: string, batch: Batch, signal: AbortSignal): Promise<void> {
  await ask(`${url}/insert/jsonline?${FIELDS.toString()}`, {
    method: 'POST',
    // With a form content type it would parse the body as a form and store nothing.
    headers: { 'content-type': 'application/stream+json' },
    body: batch.text,
    signal,
  });
}

async function countLines(url: string, signal: AbortSignal | undefined): Promise<number> {
  const query = new URLSearchParams({ query: '* | stats count() lines' });
  const answer: unknown = JSON.parse(
    await ask(`${url}/select/logsql/query?${query.toString()}`, { signal: signal ?? null }),
  );
  return Number(record(answer)['lines']);
}

async function ask(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`VictoriaLogs returned ${response.status}: ${text.slice(0, 500)}`);
  return text;
}
