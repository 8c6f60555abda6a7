// One OpenSearch for the tests of a file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogStoreProcess } from '../../../../../../hack/log-stores/log-store.ts';
import { type OpenSearchOptions, startOpenSearch } from '../../../../../../hack/log-stores/opensearch.ts';
import { requireJava } from '../../../../../../hack/log-stores/require-java.ts';

export interface StartedNode {
  readonly process: LogStoreProcess;
  readonly url: string;
  /** A request that must be answered well; its JSON. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** Skips the test where there is no Java. */
export async function startedNode(
  test: Mocha.Context,
  settings: NonNullable<OpenSearchOptions['settings']> = {},
): Promise<StartedNode> {
  await requireJava(test);
  const dir = await mkdtemp(join(tmpdir(), 'ks-opensearch-'));
  const ending = new AbortController();
  const process = await startOpenSearch({ dir, signal: ending.signal, settings });
  return {
    process,
    url: process.url,
    ask: (method, path, body) => ask(`${process.url}${path}`, method, body),
    async stop() {
      await process.stop();
      ending.abort();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function ask(url: string, method: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}
