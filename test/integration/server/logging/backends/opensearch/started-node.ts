// Starts a real OpenSearch node, for integration tests. All tests of a file use one node, because a start is slow.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import {
  loadOpenSearch,
  type OpenSearchLoadOptions,
  TEMPLATES,
} from '../../../../../../hack/log-stores/load-opensearch.ts';
import { type NodeKind, OPENSEARCH_2 } from '../../../../../../hack/log-stores/node-kinds.ts';
import { startOpenSearch } from '../../../../../../hack/log-stores/opensearch.ts';
import type { StartedLogStore } from '../../../../../conformance/log-store/harness.ts';
import type { StartedOddStore } from '../../../../../conformance/log-store/odd-records.suite.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { requireJava } from '../../../../../support/logging/require-java.ts';

export interface StartedNode {
  readonly url: string;
  /** The JSON of a successful response; throws for another one. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** Resolves with a running node. */
export async function startNode(
  kind: NodeKind = OPENSEARCH_2,
): Promise<StartedNode & { stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'ks-opensearch-'));
  const process = await startOpenSearch({ kind, dir, signal: new AbortController().signal });
  const { url } = process;
  const stop = async (): Promise<void> => {
    await process[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  };
  return { url, ask: (method, path, body) => ask(`${url}${path}`, method, body), stop };
}

/** A node for all tests of a `describe`, started before the first one. Skips the tests without a suitable Java. */
export function oneNode(kind: NodeKind): () => StartedNode {
  let node: Awaited<ReturnType<typeof startNode>>;

  before(async function () {
    this.timeout(300_000);
    await requireJava(this, { kind });
    node = await startNode(kind);
  });
  after(() => node?.stop());

  return () => node;
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

export type Template = Required<OpenSearchLoadOptions>['template'];

/** Installs the index template for the indices with the prefix. */
export async function putTemplate(node: StartedNode, indexPrefix: string, template: Template): Promise<void> {
  if (template === 'dynamic') return;
  await node.ask('PUT', `/_index_template/${indexPrefix}`, TEMPLATES[template](indexPrefix));
}

/** A store for documents, for the conformance suite of incomplete records. */
export async function startedOddStore(node: StartedNode, template: Template): Promise<StartedOddStore> {
  const indexPrefix = `odd-${template}`;
  await putTemplate(node, indexPrefix, template);
  const store = storeAt(node.url, { indexPrefix });
  return {
    store,
    async write(documents) {
      for (const each of documents) await node.ask('POST', `/${indexPrefix}-2026.01.15/_doc`, each);
      await node.ask('POST', `/${indexPrefix}-2026.01.15/_refresh`);
    },
    stop: () => store.run(AbortSignal.abort()),
  };
}

type Loading = Required<Pick<OpenSearchLoadOptions, 'indexPrefix' | 'template'>>;

/** A store with loaded records, for the conformance suite. Each store of a node has its own `indexPrefix`. */
export async function startedStore(
  { url }: StartedNode,
  { lines, ...loading }: Loading & { readonly lines: number },
): Promise<StartedLogStore> {
  const data = logData({ lines });
  await loadOpenSearch(url, data.records(), loading);
  const store = storeAt(url, { indexPrefix: loading.indexPrefix });
  return {
    store,
    records: data.records(),
    // Dynamic mapping keeps milliseconds.
    precision: loading.template === 'dynamic' ? 'ms' : 'ns',
    async write(records) {
      await loadOpenSearch(url, records, loading);
    },
    stop: () => store.run(AbortSignal.abort()),
  };
}
