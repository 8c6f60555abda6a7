import { indexTemplate } from '../../../../../../hack/log-stores/recommended-template.ts';
import { describeLongLines } from '../../../../../conformance/log-store/long-lines.ts';
import { describeOddRecords } from '../../../../../conformance/log-store/odd-records.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { needsWildcard } from './needs-wildcard.ts';
import { startedNode } from './started-node.ts';
import { startedStore } from './started-store.ts';

for (const template of ['recommended', 'dynamic'] as const) {
  describeLogStore(
    `OpenSearch with the ${template} mapping`,
    (test) => startedStore(test, { lines: 6_000, indexPrefix: `logs-${template}`, template }),
    template === 'dynamic' ? { unsupported: needsWildcard } : {},
  );
}

describeLongLines('OpenSearch', (test) =>
  startedStore(test, { lines: 100, indexPrefix: 'logs-long', template: 'recommended' }),
);

for (const template of ['recommended', 'dynamic'] as const) {
  describeOddRecords(`OpenSearch with the ${template} mapping`, async (test) => {
    const node = await startedNode(test);
    if (template === 'recommended') await node.ask('PUT', '/_index_template/odd', indexTemplate('odd'));
    const store = storeAt(node.url, { indexPrefix: 'odd' });
    const ending = new AbortController();
    const running = store.run(ending.signal);
    return {
      store,
      async write(documents) {
        for (const each of documents) await node.ask('POST', '/odd-2026.01.15/_doc', each);
        await node.ask('POST', '/odd-2026.01.15/_refresh');
      },
      async stop() {
        ending.abort();
        await running;
        await node.stop();
      },
    };
  });
}
