// Uploads log records to OpenSearch.
import { Client } from '../control-plane/client.ts';
import { type Batch, type LoadOptions, sendBatches } from './batch.ts';
import { indexTemplate, unfilteredTemplate, wordsTemplate } from './recommended-template.ts';
import type { LogRecord, LogRecords } from './record.ts';

export interface OpenSearchLoadOptions extends LoadOptions {
  /** Records of a UTC day go to the index `${indexPrefix}-YYYY.MM.DD`. */
  readonly indexPrefix: string;
  /**
   * `recommended`, the default, is indexTemplate(), `unfiltered` is unfilteredTemplate(), `words` is wordsTemplate().
   * `dynamic` uses no template, like collectors without further configuration. With `dynamic`, dots in the names of labels
   * become underscores (Replace_Dots of Fluent Bit), because OpenSearch rejects `app` beside `app.kubernetes.io/name`.
   */
  readonly template?: 'dynamic' | keyof typeof TEMPLATES;
}

export const TEMPLATES = {
  recommended: indexTemplate,
  unfiltered: unfilteredTemplate,
  words: wordsTemplate,
} as const;

/** Loads records and refreshes the index. Throws if OpenSearch rejects a record. */
export async function loadOpenSearch(
  url: string,
  records: LogRecords,
  options: OpenSearchLoadOptions,
): Promise<{ records: number }> {
  const { indexPrefix, template = 'recommended', signal } = options;
  using client = new Client(url);
  const aborted = signal === undefined ? {} : { signal };
  const name = encodeURIComponent(indexPrefix);
  if (template !== 'dynamic') {
    const body = TEMPLATES[template](indexPrefix);
    await client.expect(`/_index_template/${name}`, { method: 'PUT', body, ...aborted }, [200]);
  }
  const count = await sendBatches('OpenSearch', records, {
    ...options,
    lines: (record) => {
      const source = JSON.stringify(template === 'dynamic' ? withoutDots(record) : record);
      return `{"index":{"_index":${JSON.stringify(indexOf(record, indexPrefix))}}}\n${source}\n`;
    },
    send: (batch, sending) => sendBulk(client, batch, sending),
  });
  await client.expect(`/${name}-*/_refresh`, { method: 'POST', ...aborted }, [200]);
  return { records: count };
}

/** The index of the record's day in UTC. */
function indexOf(record: LogRecord, prefix: string): string {
  return `${prefix}-${record.time.slice(0, 10).replaceAll('-', '.')}`;
}

function withoutDots(record: LogRecord): LogRecord {
  const labels = Object.entries(record.kubernetes.labels).map(([name, value]) => [
    name.replaceAll('.', '_'),
    value,
  ]);
  return { ...record, kubernetes: { ...record.kubernetes, labels: Object.fromEntries(labels) } };
}

async function sendBulk(client: Client, batch: Batch, signal: AbortSignal): Promise<void> {
  const bulk = { method: 'POST', body: batch.text, contentType: 'application/x-ndjson', signal } as const;
  const { body } = await client.expect('/_bulk?filter_path=errors,items.*.error', bulk, [200]);
  if (!body.startsWith('{"errors":false')) {
    throw new Error(`OpenSearch rejected records: ${body.slice(0, 500)}`);
  }
}
