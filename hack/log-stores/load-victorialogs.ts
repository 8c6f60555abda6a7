// Uploads log records to VictoriaLogs.
import { record } from '../../apis/reading/unknown-value.ts';
import { type Answer, Client } from '../control-plane/client.ts';
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
  using client = new Client(url);
  const ask = (path: string): Promise<Answer> =>
    client.expect(path, signal === undefined ? {} : { signal }, [200]);
  const before = await countLines(ask);
  const count = await sendBatches('VictoriaLogs', records, {
    ...options,
    lines: (record) => `${JSON.stringify(record)}\n`,
    send: (batch, sending) => sendLines(client, batch, sending),
  });
  await ask('/internal/force_flush');
  // VictoriaLogs responds 200 even if it drops lines, and its metrics are a second old.
  const stored = (await countLines(ask)) - before;
  if (!(stored >= count))
    throw new Error(`VictoriaLogs stored ${stored} of ${count} lines; its log says why`);
  return { records: count };
}

async function sendLines(client: Client, batch: Batch, signal: AbortSignal): Promise<void> {
  // With a form content type it would parse the body as a form and store nothing.
  const lines = { method: 'POST', body: batch.text, contentType: 'application/stream+json', signal } as const;
  await client.expect(`/insert/jsonline?${FIELDS.toString()}`, lines, [200]);
}

async function countLines(ask: (path: string) => Promise<Answer>): Promise<number> {
  const query = new URLSearchParams({ query: '* | stats count() lines' });
  const { body } = await ask(`/select/logsql/query?${query.toString()}`);
  return Number(record(JSON.parse(body))['lines']);
}
