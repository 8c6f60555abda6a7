// Tests of the OpenSearch log store by the conformance suite, and further tests, against a real OpenSearch node.
import { OPENSEARCH_2 } from '../../../../../../hack/log-stores/node-kinds.ts';
import { indexTemplate } from '../../../../../../hack/log-stores/recommended-template.ts';
import { describeLongLines } from '../../../../../conformance/log-store/long-lines.ts';
import {
  describeOddRecords,
  type StartedOddStore,
} from '../../../../../conformance/log-store/odd-records.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { describeFaults } from './broken-node.ts';
import { describeLayouts } from './layouts.ts';
import { describeNode } from './node.ts';
import { describeSettings } from './settings.ts';
import { oneNode, type StartedNode } from './started-node.ts';
import { startedStore } from './started-store.ts';
import { describeUnsearchableIndices } from './unsearchable-indices.ts';
import { isUnsupported, isUnsupportedWithoutWildcard } from './unsupported-selections.ts';

/** Number of loaded lines: each unusual line at least once, and more than two pages. */
const LINES = 2_400;

describe('one node', () => {
  const node = oneNode();

  describeNode(node);
  describeSettings(node);
  describeLayouts(node);
  describeUnsearchableIndices(OPENSEARCH_2, node);

  for (const template of ['recommended', 'dynamic'] as const) {
    describeLogStore(
      `OpenSearch with the ${template} mapping`,
      () => startedStore(node(), { lines: LINES, indexPrefix: `logs-${template}`, template }),
      template === 'dynamic'
        ? { ownWords: true, unsupported: isUnsupportedWithoutWildcard, runs: 10, every: 8, everyName: 8 }
        : { ownWords: true, unsupported: isUnsupported },
    );

    describeOddRecords(`OpenSearch with the ${template} mapping`, () => startedOddStore(node(), template));
  }

  // Without the substrings of the recommended mapping, whose index of these lines takes most of the time.
  describeLongLines('OpenSearch', () =>
    startedStore(node(), { lines: 100, indexPrefix: 'logs-long', template: 'dynamic' }),
  );

  // Interrupted searches stay open in the node for a while, so this comes last.
  describeFaults(node);
});

async function startedOddStore(
  node: StartedNode,
  template: 'recommended' | 'dynamic',
): Promise<StartedOddStore> {
  const indexPrefix = `odd-${template}`;
  if (template === 'recommended') await node.ask('PUT', '/_index_template/odd', indexTemplate(indexPrefix));
  const store = storeAt(node.url, { indexPrefix });
  const ending = new AbortController();
  const running = store.run(ending.signal);
  return {
    store,
    async write(documents) {
      for (const each of documents) await node.ask('POST', `/${indexPrefix}-2026.01.15/_doc`, each);
      await node.ask('POST', `/${indexPrefix}-2026.01.15/_refresh`);
    },
    async stop() {
      ending.abort();
      await running;
    },
  };
}
