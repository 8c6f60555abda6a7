// Starts a real OpenSearch node, for integration tests. All tests of a file use one node, because a start is slow.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogStoreProcess } from '../../../../../../hack/log-stores/log-store.ts';
import { type OpenSearchOptions, startOpenSearch } from '../../../../../../hack/log-stores/opensearch.ts';
import { requireJava } from '../../../../../support/logging/require-java.ts';

export interface StartedNode {
  readonly process: LogStoreProcess;
  readonly url: string;
  /** The JSON of a successful response; throws for another one. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** A node for all tests of a `describe`, started before the first one. */
export function oneNode(options: Pick<OpenSearchOptions, 'kind'> = {}): () => StartedNode {
  let node: StartedNode | undefined;

  before(async function () {
    this.timeout(300_000);
    node = await startedNode(this, options);
  });

  after(() => node?.stop());

  return () => {
    if (node === undefined) throw new Error('the node has not started');
    return node;
  };
}

/** Skips the test without a suitable Java. */
export async function startedNode(
  test: Mocha.Context,
  options: Pick<OpenSearchOptions, 'kind'> = {},
): Promise<StartedNode> {
  await requireJava(test, options);
  const dir = await mkdtemp(join(tmpdir(), 'ks-opensearch-'));
  const ending = new AbortController();
  const process = await startOpenSearch({ ...options, dir, signal: ending.signal });
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

async function ask(url: string, method: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}
