// One OpenSearch for the tests of a file: starting one takes longer than most tests that ask it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogStoreProcess } from '../../../../../../hack/log-stores/log-store.ts';
import { type OpenSearchOptions, startOpenSearch } from '../../../../../../hack/log-stores/opensearch.ts';
import { requireJava } from '../../../../../support/logging/require-java.ts';

export interface StartedNode {
  readonly process: LogStoreProcess;
  readonly url: string;
  /** A request that must be answered well; its JSON. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>;
  /** How many points in time, scrolls and searches it holds for its clients. */
  openContexts(): Promise<number>;
  stop(): Promise<void>;
}

/** A node for all that a `describe` holds, started before the first of its tests and known from then on. */
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

/** Skips the test where there is no Java that fits. */
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
    openContexts: async () => contextsIn(await ask(`${process.url}/_nodes/stats/indices/search`, 'GET')),
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
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}

function contextsIn(stats: unknown): number {
  const { nodes } = stats as { nodes: Record<string, { indices: { search: Record<string, number> } }> };
  return Object.values(nodes).reduce(
    (sum, { indices: { search } }) =>
      sum +
      (search['open_contexts'] ?? 0) +
      (search['scroll_current'] ?? 0) +
      (search['point_in_time_current'] ?? 0),
    0,
  );
}
