import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { storeAt } from '../../../../../support/opensearch-store.ts';
import { needsWildcard } from './needs-wildcard.ts';
import { startedNode } from './started-node.ts';

for (const template of ['recommended', 'dynamic'] as const) {
  describeLogStore(
    `OpenSearch with the ${template} mapping`,
    async (test) => {
      const node = await startedNode(test);
      const data = logData({ lines: 6_000 });
      const indexPrefix = `logs-${template}`;
      await loadOpenSearch(node.url, data.records(), { indexPrefix, template });
      const store = storeAt(node.url, { indexPrefix });
      const ending = new AbortController();
      const running = store.run(ending.signal);
      return {
        store,
        records: data.records(),
        precision: template === 'recommended' ? 'ns' : 'ms',
        async write(records) {
          await loadOpenSearch(node.url, records, { indexPrefix, template });
        },
        async stop() {
          ending.abort();
          await running;
          await node.stop();
        },
      };
    },
    template === 'dynamic' ? { unsupported: needsWildcard } : {},
  );
}
