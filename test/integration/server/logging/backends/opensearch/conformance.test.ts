import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import type { Selection } from '../../../../../../server/logging/log-store.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { storeAt } from '../../../../../support/opensearch-store.ts';
import { startedNode } from './started-node.ts';

/** What words alone can not tell; without a field of type wildcard the store says so. */
function needsWildcard({ text, levels }: Selection): boolean {
  if (levels !== undefined && levels.length > 0) return true;
  if (text === undefined) return false;
  if (text.mode === 'regex') return true;
  if (text.texts.some((one) => one.includes('\u0130'))) return true;
  if (text.mode === 'substring') {
    return (
      text.caseSensitive || text.texts.some((one) => !/^(?=.*[0-9A-Za-z])[0-9A-Za-z_]{1,200}$/.test(one))
    );
  }
  return text.caseSensitive && text.texts.some((one) => one.toLowerCase() !== one.toUpperCase());
}

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
