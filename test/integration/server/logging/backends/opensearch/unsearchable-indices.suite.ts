// Tests of log queries against closed and blocked OpenSearch indices.
import { expect } from 'chai';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { type NodeKind } from '../../../../../../hack/log-stores/node-kinds.ts';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { line } from '../../../../../support/logging/log-service.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import type { StartedNode } from './started-node.ts';

const DAYS = ['01', '02', '03', '04', '05'];
const MONTH = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-02-01T00:00:00.000000000Z' };
/** Too many days for a path: a pattern names their indices. */
const YEARS = { start: '2024-06-01T00:00:00.000000000Z', end: MONTH.end };
const ALWAYS = { start: '1970-01-01T00:00:00.000000000Z', end: MONTH.end };

export function describeUnsearchableIndices(kind: NodeKind, node: () => StartedNode): void {
  describe(`closed and blocked indices of ${kind.title}`, () => {
    /** Indices of five days. */
    async function loaded(indexPrefix: string) {
      const lines = DAYS.map((day) => line(`2026-01-${day}T10:00:00.000000000Z`, `line of ${day}`));
      await loadOpenSearch(node().url, lines, { indexPrefix, template: 'dynamic' });
      const index = (day: string): string => `${indexPrefix}-2026.01.${day}`;
      return {
        store: storeAt(node().url, { indexPrefix }),
        index,
        block: (day: string) => node().ask('PUT', `/${index(day)}/_settings`, { 'index.blocks.read': true }),
        close: (day: string) => node().ask('POST', `/${index(day)}/_close`),
      };
    }

    /** The days of the lines that every operation returns, and the missing indices. */
    async function resultsOf(store: ReturnType<typeof storeAt>, range: Selection['range']) {
      const selection: Selection = { scope: { everything: true }, range };
      const page = await store.query(selection, { order: 'asc', size: 10, from: 0 }, call());
      const counted = await store.statistics(selection, call());
      const edges = [Date.parse(MONTH.start), Date.parse(MONTH.end)];
      const histogram = await store.histogram(selection, { edges }, call());
      const whole = await exported(store.export(selection, 'asc', call()));
      const all = [page, counted, histogram, whole].map(({ shortfalls }) =>
        shortfalls.map(({ reason, message }) => `${reason}: ${message}`),
      );
      const totals = [page.total, counted.logs, histogram.total];
      for (const { count } of totals) expect(count).to.equal(page.records.length);
      expect(whole.records).to.deep.equal(page.records);
      expect(all.slice(1)).to.deep.equal([all[0], all[0], all[0]]);
      return {
        days: whole.logs.map((log) => log.slice(-2)),
        relations: [...new Set(totals.map(({ relation }) => relation))],
        missing: all[0],
      };
    }

    it('are named in partial results', async () => {
      const { store, index, block, close } = await loaded('mixed');
      const whole = { days: DAYS, relations: ['eq'], missing: [] };
      for (const range of [MONTH, YEARS, ALWAYS]) expect(await resultsOf(store, range)).to.deep.equal(whole);
      await block('02');
      await block('04');
      const blocked = `NotCovered: the log store rejects searches of ${index('02')}, ${index('04')}`;
      for (const range of [MONTH, YEARS, ALWAYS]) {
        // The cached layout has not expired: the rejection invalidates it.
        const expected = { days: ['01', '03', '05'], relations: ['gte'], missing: [blocked] };
        expect(await resultsOf(store, range), range.start).to.deep.equal(expected);
      }
      await close('03');
      const closed = `NotCovered: the log store has closed ${index('03')}`;
      for (const range of [MONTH, YEARS, ALWAYS]) {
        // The store leaves closed indices out without a notice: the number of shards invalidates the layout.
        const expected = { days: ['01', '05'], relations: ['gte'], missing: [blocked, closed] };
        expect(await resultsOf(store, range), range.start).to.deep.equal(expected);
      }
    });

    it('are named up to five', async () => {
      const { store, index, close } = await loaded('many-closed');
      const more = ['06', '07', '08', '09'];
      for (const day of more) await node().ask('PUT', `/${index(day)}`);
      for (const day of [...DAYS.slice(1), ...more]) await close(day);
      for (const [range, others] of [
        [MONTH, 'and 3 more'],
        [YEARS, 'and 1 more, and possibly more'],
      ] as const) {
        const selection: Selection = { scope: { everything: true }, range };
        const page = await store.query(selection, { order: 'asc', size: 10, from: 0 }, call());
        expect(page.total).to.deep.equal({ count: 1, relation: 'gte' });
        const closed = new RegExp(`^the log store has closed (${index('0')}\\d,? ){5}${others}$`);
        expect(page.shortfalls.map(({ message }) => message).join()).to.match(closed);
      }
    });

    it('are only counted if their names can contain those of namespaces', async () => {
      const { block, close } = await loaded('shared');
      await block('02');
      for (const day of ['03', '04']) await close(day);
      const store = storeAt(node().url, { indexPrefix: 'shared', dailyIndices: false });
      expect((await resultsOf(store, ALWAYS)).missing).to.deep.equal([
        'NotCovered: the log store rejects searches of 1 index',
        'NotCovered: the log store has closed 2 indices',
      ]);
    });

    it('are named beside an index without available shards', async () => {
      const { block } = await loaded('away');
      await block('02');
      const unassigned = { settings: { 'index.routing.allocation.require._name': 'none' } };
      await node().ask('PUT', '/away-2026.01.06?wait_for_active_shards=0', unassigned);
      for (const range of [MONTH, YEARS, ALWAYS]) {
        expect(await resultsOf(storeAt(node().url, { indexPrefix: 'away' }), range)).to.deep.equal({
          days: ['01', '03', '04', '05'],
          relations: ['gte'],
          missing: [
            'NotCovered: the log store rejects searches of away-2026.01.02',
            'ShardFailed: 1 of 5 shards of the log store failed (unavailable)',
          ],
        });
      }
    });

    it('are named by an export that was in progress', async () => {
      for (const end of ['_close', 'deleted'] as const) {
        const indexPrefix = `export-${end.replace('_', '')}`;
        const { index } = await loaded(indexPrefix);
        const store = storeAt(node().url, { indexPrefix, pageSize: 1 });
        const lines = store.export({ scope: { everything: true }, range: MONTH }, 'asc', call());
        const days: string[] = [];
        let next = await lines.next();
        for (; !next.done; next = await lines.next()) {
          days.push(...Array.from(next.value, ({ log }) => log.slice(-2)));
          if (days.length > 1) continue;
          if (end === '_close') await node().ask('POST', `/${index('04')}/_close`);
          else await node().ask('DELETE', `/${index('04')}`);
        }
        expect(days, end).to.deep.equal(['01', '02', '03', '05']);
        expect(next.value.shortfalls.map(({ message }) => message).join(), end).to.include(index('04'));
      }
    });

    it('are an error if there are no other indices', async () => {
      const { store, close } = await loaded('alone');
      await close('03');
      const range = { start: '2026-01-03T00:00:00.000000000Z', end: '2026-01-04T00:00:00.000000000Z' };
      const selection: Selection = { scope: { everything: true }, range };
      expect(await rejection(store.statistics(selection, call()))).to.include({ code: 503 });
    });
  });
}
