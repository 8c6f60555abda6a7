// Creates an OpenSearch log store with loaded log records, for the conformance suite.
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import {
  loadOpenSearch,
  type OpenSearchLoadOptions,
} from '../../../../../../hack/log-stores/load-opensearch.ts';
import type { StartedLogStore } from '../../../../../conformance/log-store/harness.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import type { StartedNode } from './started-node.ts';

type Loading = Required<Pick<OpenSearchLoadOptions, 'indexPrefix' | 'template'>>;

/** The node keeps running when the store stops. Each store has its own `indexPrefix`. */
export async function startedStore(
  node: StartedNode,
  { lines, ...loading }: Loading & { readonly lines: number },
): Promise<StartedLogStore> {
  const data = logData({ lines });
  await loadOpenSearch(node.url, data.records(), loading);
  const store = storeAt(node.url, { indexPrefix: loading.indexPrefix });
  const ending = new AbortController();
  const running = store.run(ending.signal);
  return {
    store,
    records: data.records(),
    // Dynamic mapping keeps milliseconds.
    precision: loading.template === 'dynamic' ? 'ms' : 'ns',
    async write(records) {
      await loadOpenSearch(node.url, records, loading);
    },
    async stop() {
      ending.abort();
      await running;
    },
  };
}
