// A node with lines and our store before it, as the conformance suite takes them.
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import {
  loadOpenSearch,
  type OpenSearchLoadOptions,
} from '../../../../../../hack/log-stores/load-opensearch.ts';
import type { OpenSearchOptions } from '../../../../../../hack/log-stores/opensearch.ts';
import type { StartedLogStore } from '../../../../../conformance/log-store/harness.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { startedNode } from './started-node.ts';

type Loading = Required<Pick<OpenSearchLoadOptions, 'indexPrefix' | 'template'>>;

/** Skips the test where there is no Java that fits. */
export async function startedStore(
  test: Mocha.Context,
  { lines, kind, ...loading }: Loading & { readonly lines: number } & Pick<OpenSearchOptions, 'kind'>,
): Promise<StartedLogStore> {
  const node = await startedNode(test, kind === undefined ? {} : { kind });
  const data = logData({ lines });
  await loadOpenSearch(node.url, data.records(), loading);
  const store = storeAt(node.url, { indexPrefix: loading.indexPrefix });
  const ending = new AbortController();
  const running = store.run(ending.signal);
  return {
    store,
    records: data.records(),
    // Without a mapping of its own the store takes times for milliseconds.
    precision: loading.template === 'dynamic' ? 'ms' : 'ns',
    async write(records) {
      await loadOpenSearch(node.url, records, loading);
    },
    async stop() {
      ending.abort();
      await running;
      await node.stop();
    },
  };
}
