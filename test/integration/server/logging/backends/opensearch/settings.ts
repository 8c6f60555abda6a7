// Tests of the OpenSearch log store against a node with low search limits in the cluster settings.
import { expect } from 'chai';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';
import type { Selection } from '../../../../../../server/logging/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import type { StartedNode } from './started-node.ts';

const indexPrefix = 'settings';
/** In two indices, one for each day. */
const RECORDS = [...logData({ lines: 1_000 }).records()];
const ALL: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-01T00:00:00.000000000Z', end: '2026-02-01T00:00:00.000000000Z' },
};
const PAGE = { order: 'asc', size: 1, from: 0 } as const;

async function failure(running: Promise<unknown>): Promise<StatusError> {
  const error = await running.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (error instanceof StatusError) return error;
  throw new Error('it succeeded', { cause: error });
}

export function describeSettings(node: () => StartedNode): void {
  describe('limits of an OpenSearch node', function () {
    this.timeout(180_000);

    before(async () => {
      await loadOpenSearch(node().url, RECORDS, { indexPrefix });
    });

    const set = (transient: object) => node().ask('PUT', '/_cluster/settings', { transient });
    const exported = async (store: ReturnType<typeof storeAt>, range = ALL.range): Promise<number> => {
      let lines = 0;
      for await (const batch of store.export({ ...ALL, range }, 'asc', call())) lines += batch.length;
      return lines;
    };

    it('rejects an export without capacity for its points in time, and allows one of a shorter range', async () => {
      await set({ 'search.max_open_pit_context': 1 });
      try {
        const store = storeAt(node().url, { indexPrefix });
        const error = await failure(exported(store));
        expect(error).to.include({ code: 503 });
        expect(error.message).to.include('export a shorter range');
        expect(error.details?.retryAfterSeconds).to.equal(30);
        expect(await node().openContexts()).to.equal(0);
        const day = { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
        expect(await exported(store, day)).to.be.within(1, RECORDS.length - 1);
      } finally {
        await set({ 'search.max_open_pit_context': null });
      }
    });

    it('rejects expensive queries with a message that says what to change, and fails the health check', async () => {
      await set({ 'search.allow_expensive_queries': false });
      try {
        const store = storeAt(node().url, { indexPrefix });
        const text = (mode: 'phrase' | 'prefix') =>
          ({ mode, texts: ['time'], caseSensitive: false }) as const;
        for (const rest of [
          { text: text('prefix') },
          { levels: ['error'] },
          { workloads: { exact: ['x'] } },
        ] as const) {
          const error = await failure(store.query({ ...ALL, ...rest }, PAGE, call()));
          expect(error).to.include({ code: 400 });
          expect(error.message).to.include('use `match=phrase`');
        }
        expect((await store.query({ ...ALL, text: text('phrase') }, PAGE, call())).shortfalls).to.deep.equal(
          [],
        );
        const unfit = unfitOptionIn(await failure(store.check(call())));
        expect(unfit?.reason).to.include('search.allow_expensive_queries');
      } finally {
        await set({ 'search.allow_expensive_queries': null });
      }
      await storeAt(node().url, { indexPrefix }).check(call());
    });

    it('fails exports while max_keep_alive is too short', async () => {
      const store = storeAt(node().url, { indexPrefix });
      await set({ 'search.default_keep_alive': '10s' });
      await set({ 'point_in_time.max_keep_alive': '40s' });
      try {
        const error = await failure(exported(store));
        expect(error).to.include({ code: 503 });
        expect(unfitOptionIn(error)?.reason).to.include('point_in_time.max_keep_alive');
        expect((await store.query(ALL, PAGE, call())).total.count).to.equal(RECORDS.length);
      } finally {
        await set({ 'point_in_time.max_keep_alive': null });
        await set({ 'search.default_keep_alive': null });
      }
      expect(await exported(store)).to.equal(RECORDS.length);
    });

    it('rejects a range with too many shards, and fails the health check', async () => {
      await set({ 'action.search.shard_count.limit': 1 });
      try {
        const store = storeAt(node().url, { indexPrefix });
        for (const running of [
          () => store.query(ALL, PAGE, call()),
          () => store.statistics(ALL, call()),
          () => exported(store),
        ]) {
          const error = await failure(running());
          expect(error).to.include({ code: 400 });
          expect(error.details?.causes?.[0]?.field).to.equal('start_time');
        }
        const unfit = unfitOptionIn(await failure(store.check(call())));
        expect(unfit?.reason).to.include('action.search.shard_count.limit');
      } finally {
        await set({ 'action.search.shard_count.limit': null });
      }
    });
  });
}
