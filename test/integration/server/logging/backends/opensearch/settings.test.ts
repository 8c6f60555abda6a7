// Tests of the OpenSearch log store against a node with low search limits in the cluster settings.
import { expect } from 'chai';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { unfitOptionIn } from '../../../../../../server/logging/store/configuration-errors.ts';
import type { Selection, TextFilter } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { sharedNode } from './shared-node.ts';
import type { StartedNode } from './started-node.ts';

const indexPrefix = 'settings';
/** In two indices, one for each day. */
const RECORDS = [...logData({ lines: 1_000 }).records()];
const ALL: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-01T00:00:00.000000000Z', end: '2026-02-01T00:00:00.000000000Z' },
};
const PAGE = { order: 'asc', size: 1, from: 0 } as const;

describe('limits of an OpenSearch node', () => {
  let node: StartedNode;

  before(async function () {
    node = await sharedNode(this);
  });

  before(async () => {
    await loadOpenSearch(node.url, RECORDS, { indexPrefix });
  });

  const set = (transient: object) => node.ask('PUT', '/_cluster/settings', { transient });

  it('rejects expensive queries with a message that says what to change, and fails the health check', async () => {
    await set({ 'search.allow_expensive_queries': false });
    try {
      const store = storeAt(node.url, { indexPrefix });
      const text = (mode: TextFilter['mode']): TextFilter => ({
        mode,
        texts: ['time'],
        caseSensitive: false,
      });
      const workloads = { exact: ['x'] };
      for (const rest of [{ text: text('prefix') }, { levels: ['error'] }, { workloads }] as const) {
        const error = await rejection(store.query({ ...ALL, ...rest }, PAGE, call()));
        expect(error)
          .to.include({ code: 400 })
          .and.to.match(/use `match=phrase`/);
      }
      const { shortfalls } = await store.query({ ...ALL, text: text('phrase') }, PAGE, call());
      expect(shortfalls).to.deep.equal([]);
      const unfit = unfitOptionIn(await rejection(store.check(call())));
      expect(unfit?.reason).to.include('search.allow_expensive_queries');
    } finally {
      await set({ 'search.allow_expensive_queries': null });
    }
    await storeAt(node.url, { indexPrefix }).check(call());
  });

  it('rejects a range with too many shards, and fails the health check', async () => {
    await set({ 'action.search.shard_count.limit': 1 });
    try {
      const store = storeAt(node.url, { indexPrefix });
      for (const running of [
        () => store.query(ALL, PAGE, call()),
        () => store.statistics(ALL, call()),
        () => store.export(ALL, 'asc', call()).next(),
      ]) {
        const error = await rejection(running());
        expect(error).to.include({ code: 400 });
        expect(error).to.have.nested.property('details.causes[0].field', 'start_time');
      }
      const unfit = unfitOptionIn(await rejection(store.check(call())));
      expect(unfit?.reason).to.include('action.search.shard_count.limit');
    } finally {
      await set({ 'action.search.shard_count.limit': null });
    }
  });
});
