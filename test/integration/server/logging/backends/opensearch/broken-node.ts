// Tests of the OpenSearch log store against a real node behind a faulty proxy.
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import {
  describeLogStoreFaults,
  type StartedBehindFront,
} from '../../../../../conformance/log-store/faults.ts';
import { FaultyProxy } from '../../../../../support/cluster/faulty-proxy.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import type { StartedNode } from './started-node.ts';

const indexPrefix = 'logs-faults';

/** A response of OpenSearch as if one shard had failed. */
function shardFailed(text: string): string {
  const failure = { shard: 0, index: indexPrefix, reason: { type: 'io_exception', reason: 'disk on fire' } };
  return text.replace(/"_shards":\{[^}]*\}/, (shards) =>
    shards
      .replace(/"failed":0/, '"failed":1')
      .replace(/"successful":(\d+)/, (_, many) => `"successful":${Number(many) - 1}`)
      .replace(/\}$/, `,"failures":[${JSON.stringify(failure)}]}`),
  );
}

export function describeFaults(node: () => StartedNode): void {
  describeLogStoreFaults('OpenSearch', () => startedBehindProxy(node()), { shardFailed });
}

async function startedBehindProxy({ url }: StartedNode): Promise<StartedBehindFront> {
  const records = [...logData({ lines: 2_000 }).records()];
  await loadOpenSearch(url, records, { indexPrefix });
  const proxy = await FaultyProxy.start(url);
  const store = storeAt(proxy.url, { indexPrefix });
  const ending = new AbortController();
  const running = store.run(ending.signal);
  return {
    store,
    proxy,
    records,
    write: async (more) => {
      await loadOpenSearch(url, more, { indexPrefix });
    },
    stop: async () => {
      ending.abort();
      await running;
      await proxy.stop();
    },
  };
}
