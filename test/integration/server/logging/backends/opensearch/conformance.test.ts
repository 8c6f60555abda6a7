// Tests of the OpenSearch log store by the conformance suite, and further tests, against a real OpenSearch node.
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { OPENSEARCH_2 } from '../../../../../../hack/log-stores/node-kinds.ts';
import type { LogRecord } from '../../../../../../hack/log-stores/record.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.suite.ts';
import { describeLongLines } from '../../../../../conformance/log-store/long-lines.suite.ts';
import { describeOddRecords } from '../../../../../conformance/log-store/odd-records.suite.ts';
import { describeLogStore } from '../../../../../conformance/log-store.suite.ts';
import { FaultyProxy } from '../../../../../support/cluster/faulty-proxy.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { describeSeveralValues } from './several-values.suite.ts';
import { sharedNode } from './shared-node.ts';
import { type StartedNode, startedOddStore, startedStore } from './started-node.ts';
import { describeUnsearchableIndices } from './unsearchable-indices.suite.ts';
import { isUnsupported, isUnsupportedWithoutWildcard } from './unsupported-selections.ts';

/** Number of loaded lines: each unusual line at least once, and more than two pages. */
const LINES = 2_400;

describe('one node', () => {
  let started: StartedNode;
  const node = (): StartedNode => started;

  before(async function () {
    started = await sharedNode(this);
  });

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

  describeSeveralValues(OPENSEARCH_2.title, node, ['recommended', 'dynamic']);

  // Without the substrings of the recommended mapping, whose index of these lines takes most of the time.
  describeLongLines('OpenSearch', () =>
    startedStore(node(), { lines: 100, indexPrefix: 'logs-long', template: 'dynamic' }),
  );

  // Interrupted searches stay open in the node for a while, so this comes last.
  const startBehindProxy = async () => {
    const [{ url }, indexPrefix] = [node(), 'logs-faults'];
    const records = [...logData({ lines: 2_000 }).records()];
    await loadOpenSearch(url, records, { indexPrefix });
    const proxy = await FaultyProxy.start(url);
    const store = storeAt(proxy.url, { indexPrefix });
    return {
      store,
      proxy,
      records,
      write: async (more: readonly LogRecord[]) => {
        await loadOpenSearch(url, more, { indexPrefix });
      },
      stop: async () => {
        await store.run(AbortSignal.abort());
        await proxy.stop();
      },
    };
  };
  describeLogStoreFaults('OpenSearch', startBehindProxy, { shardFailed });
});

/** A response of OpenSearch as if one shard had failed. */
function shardFailed(text: string): string {
  const failure = {
    shard: 0,
    index: 'logs-faults',
    reason: { type: 'io_exception', reason: 'disk on fire' },
  };
  return text.replace(/"_shards":\{[^}]*\}/, (shards) =>
    shards
      .replace(/"failed":0/, '"failed":1')
      .replace(/"successful":(\d+)/, (_, many) => `"successful":${Number(many) - 1}`)
      .replace(/\}$/, `,"failures":[${JSON.stringify(failure)}]}`),
  );
}
