// Tests of the OpenSearch log store against indices with different mappings, on a real node. Log collectors and index
// templates create these mappings.
import { expect } from 'chai';
import { unfitOptionIn } from '../../../../../../server/logging/store/configuration-errors.ts';
import { BEGINNING } from '../../../../../../server/logging/store/instant.ts';
import type { LogStore, Selection } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { FIELDS, storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { sharedNode } from './shared-node.ts';
import type { StartedNode } from './started-node.ts';

const ALL: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-14T00:00:00.000000000Z', end: '2026-01-17T00:00:00.000000000Z' },
};
const scopeOf = (...names: string[]): Selection['scope'] => ({
  everything: false,
  namespaces: names.map((name) => ({ name, since: BEGINNING })),
});
const OF_WEB: Selection = { ...ALL, scope: scopeOf('web') };
const TEN = Date.parse('2026-01-15T10:00:00Z') / 1_000;
const keyword = { type: 'keyword' };

function document(time: unknown, log: unknown, namespace = 'web'): object {
  const names = { namespace_name: namespace, pod_name: 'web-1', container_name: 'app' };
  return { time, log, kubernetes: { ...names, docker_id: 'one' } };
}

const LINE = document('2026-01-15T10:00:00Z', 'a line');

describe('the layout of indices', () => {
  let node: StartedNode;

  before(async function () {
    node = await sharedNode(this);
  });

  const index = async (name: string, properties: object | undefined, documents: readonly object[]) => {
    await node.ask('PUT', `/${name}`, properties === undefined ? {} : { mappings: { properties } });
    for (const each of documents) await node.ask('POST', `/${name}/_doc`, each);
    await node.ask('POST', `/${name}/_refresh`);
  };
  const storeOf = (indexPrefix: string) => storeAt(node.url, { indexPrefix, dailyIndices: false });
  const linesOf = async (store: LogStore, selection = ALL) => {
    const page = await store.query(selection, { order: 'asc', size: 20, from: 0 }, call());
    return {
      times: page.records.map(({ time }) => time.slice(0, 26)),
      logs: page.records.map(({ log }) => log),
      total: page.total,
      reasons: page.shortfalls.map(({ reason }) => reason),
    };
  };
  const faultOf = async (options: Parameters<typeof storeAt>[1]) => {
    const checked = storeAt(node.url, options).check(call());
    return unfitOptionIn(await checked.catch((error: unknown) => error));
  };

  it('supports times in any format of a date', async () => {
    await index('times-seconds', { time: { type: 'date', format: 'epoch_second' } }, [
      document(TEN, 'a number of seconds'),
      document(`${TEN + 1}.5`, 'digits'),
    ]);
    await index('times-plain', undefined, [document('2026-01-15T12:00:02.25+02:00', 'another zone')]);
    await index('times-nanos', { time: { type: 'date_nanos' } }, [
      document(TEN * 1_000 + 4_001, 'milliseconds as a number'),
      document('2026-01-15T10:00:05.000001999Z', 'nanoseconds'),
    ]);
    await index('times-nano-seconds', { time: { type: 'date_nanos', format: 'epoch_second' } }, [
      document(`${TEN + 6}.000042`, 'microseconds'),
    ]);
    expect((await linesOf(storeOf('times'))).times).to.deep.equal([
      '2026-01-15T10:00:00.000000',
      '2026-01-15T10:00:01.500000',
      '2026-01-15T10:00:02.250000',
      '2026-01-15T10:00:04.001000',
      '2026-01-15T10:00:05.000001',
      '2026-01-15T10:00:06.000042',
    ]);
  });

  it('supports lists as lines, and removes newlines at the end of lines', async () => {
    const log = { type: 'text', fields: { wildcard: { type: 'wildcard' } } };
    await index('ends', { log }, [
      document('2026-01-15T10:00:00Z', ['one', null, 'two']),
      document('2026-01-15T10:00:01Z', 'several\n\n\n'),
      document('2026-01-15T10:00:02Z', 'within\nand return\r\n'),
    ]);
    const { logs } = await linesOf(storeOf('ends'), ALL);
    expect(logs).to.deep.equal(['one\ntwo', 'several', 'within\nand return\r']);
  });

  it('can be the index template in new indices and dynamic mapping in old ones', async () => {
    await index('upgraded-1', undefined, [
      document('2026-01-14T10:00:00Z', 'a', 'team-a'),
      document('2026-01-14T10:00:01Z', 'b', 'team'),
    ]);
    const fields = ['namespace_name', 'pod_name', 'container_name', 'docker_id'];
    const template = {
      time: { type: 'date_nanos' },
      log: { type: 'text', fields: { wildcard: { type: 'wildcard' } } },
      kubernetes: { properties: Object.fromEntries(fields.map((field) => [field, keyword])) },
    };
    await index('upgraded-2', template, [
      document('2026-01-15T10:00:00Z', 'c', 'team-a'),
      document('2026-01-15T10:00:01Z', 'd', 'team'),
    ]);
    const store = storeOf('upgraded');
    const scope = (since: string): Selection['scope'] => ({
      everything: false,
      namespaces: [
        ...Array.from({ length: 150 }, (_, n) => ({
          name: `none-${n}`,
          since: `2026-01-14T12:00:00.${String(n).padStart(9, '0')}Z`,
        })),
        { name: 'team', since },
      ],
    });
    const whole = { ...ALL, scope: scope(BEGINNING) };
    expect((await linesOf(store, whole)).logs).to.deep.equal(['b', 'd']);
    const recreated = { ...ALL, scope: scope('2026-01-14T12:00:00.000000000Z') };
    expect((await linesOf(store, recreated)).logs).to.deep.equal(['d']);
    const text = { mode: 'regex', texts: ['[bd]'], caseSensitive: true } as const;
    const partial = await linesOf(store, { ...whole, text });
    expect(partial).to.deep.include({ logs: ['d'], reasons: ['NotCovered'] });
    expect(await store.statistics(ALL, call())).to.deep.equal({
      logs: { count: 4, relation: 'eq' },
      containers: 2,
      containersApproximate: true,
      shortfalls: [],
    });
    const { logs } = await exported(store.export(whole, 'desc', call()));
    expect(logs).to.deep.equal(['d', 'b']);
  });

  for (const [what, properties, dynamic] of [
    ['a time without doc_values', { time: { type: 'date', doc_values: false } }],
    ['a time that is a keyword', { time: keyword }],
    ['a line that is not indexed', { log: { type: 'text', index: false } }],
    ['a line that is a number', { log: { type: 'long' } }],
    ['names in nested objects', { kubernetes: { type: 'nested', properties: { pod_name: keyword } } }],
    ['an unmapped line', { time: { type: 'date' } }, false],
  ] as const) {
    it(`is not supported with ${what}`, async () => {
      const prefix = `unsupported-${what.replaceAll(/[^a-z]/g, '')}`;
      const line = document('2026-01-15T10:00:00Z', 'log' in properties ? 5 : 'a line');
      const mappings = { properties, ...(dynamic === false && { dynamic }) };
      await node.ask('PUT', `/${prefix}-1`, { mappings });
      await node.ask('POST', `/${prefix}-1/_doc?refresh=true`, line);
      expect(await rejection(linesOf(storeOf(prefix)))).to.include({ code: 400 });
      const naming = { indexPrefix: prefix, dailyIndices: false };
      await index(`${prefix}-2`, undefined, [LINE]);
      expect((await faultOf(naming))?.reason).to.include(`${prefix}-1`);
      const store = storeOf(prefix);
      const missing = { total: { count: 1, relation: 'gte' }, reasons: ['NotCovered'] };
      expect(await linesOf(store, OF_WEB)).to.deep.include(missing);
      expect((await exported(store.export(ALL, 'asc', call()))).logs).to.deep.equal(['a line']);
      const leaving = new AbortController();
      for await (const batch of store.follow(ALL, leaving)) {
        expect(batch.map(({ log }) => log)).to.deep.equal(['a line']);
        leaving.abort();
      }
    });
  }

  it('is read when an index gets its first document', async () => {
    for (const [name, properties] of [
      ['empty-unmapped', {}],
      ['empty-half-mapped', { log: { type: 'text' }, time: { type: 'date' } }],
    ] as const) {
      await index(`${name}-1`, properties, []);
      const store = storeOf(name);
      expect((await linesOf(store, OF_WEB)).total).to.deep.equal({ count: 0, relation: 'eq' });
      const leaving = new AbortController();
      const followed = store.follow(ALL, leaving);
      const first = followed.next();
      await node.ask('POST', `/${name}-1/_doc?refresh=true`, LINE);
      expect((await first).value).to.have.length(1);
      expect((await linesOf(store)).logs).to.have.length(1);
      leaving.abort();
      await followed.return();
      expect(await faultOf({ indexPrefix: name, dailyIndices: false })).to.equal(undefined);
    }
  });

  it('is complete beside an empty index, and unknown while shards are unavailable', async () => {
    await index('fresh-1', undefined, [LINE]);
    await node.ask('PUT', '/fresh-2');
    const complete = { total: { count: 1, relation: 'eq' }, reasons: [] };
    expect(await linesOf(storeOf('fresh'))).to.deep.include(complete);
    const unassigned = { settings: { 'index.routing.allocation.require._name': 'none' } };
    await node.ask('PUT', '/unknown-1?wait_for_active_shards=0', unassigned);
    const store = storeOf('unknown');
    expect(await rejection(linesOf(store))).to.include({ code: 503 });
    await index('unknown-2', undefined, [LINE]);
    const missing = { total: { count: 1, relation: 'gte' }, reasons: ['ShardFailed'] };
    expect(await linesOf(store)).to.deep.include(missing);
    await node.ask('DELETE', '/unknown-1');
  });

  it('limits the number of names', async () => {
    await index('few-names', undefined, [LINE]);
    await node.ask('PUT', '/few-names/_settings', { 'index.max_terms_count': 2 });
    const selection = { ...ALL, scope: scopeOf('web', 'b', 'c') };
    const rejected = await rejection(linesOf(storeOf('few-names'), selection));
    expect(rejected)
      .to.include({ code: 400 })
      .and.to.match(/namespaces: .*`index.max_terms_count`/);
  });

  it('is reported by the health check if records lack a configured field', async () => {
    await index('subfield', undefined, [LINE]);
    const withFields = (fields: object) =>
      faultOf({ indexPrefix: 'subfield', dailyIndices: false, fields: { ...FIELDS, ...fields } });
    const unfit = await withFields({ pod: 'kubernetes.pod_name.keyword' });
    expect(unfit?.option).to.equal('logging.opensearch.fields');
    expect(await withFields({ containerID: 'kubernetes.docker_id.keyword' })).to.equal(undefined);
    const nameless = { time: '2026-01-15T10:00:00Z', log: 'a line', kubernetes: { pod_namespace: 'web' } };
    await index('nameless', undefined, [nameless]);
    const fault = await faultOf({ indexPrefix: 'nameless', dailyIndices: false });
    expect(fault?.option).to.equal('logging.opensearch.fields');
    await node.ask('PUT', '/sourceless', { mappings: { _source: { enabled: false } } });
    await node.ask('POST', '/sourceless/_doc?refresh=true', LINE);
    expect(await rejection(linesOf(storeOf('sourceless')))).to.include({ code: 503 });
    const sourceless = await faultOf({ indexPrefix: 'sourceless', dailyIndices: false });
    expect(sourceless?.option).to.equal('logging.opensearch');
  });

  it('is reported by the health check if names of indices are not daily, unless days are aliases', async () => {
    const reasonOf = async () => (await faultOf({ indexPrefix: 'partly', dailyIndices: true }))?.reason;
    await index('partly-2026.01.14', undefined, [LINE]);
    expect(await reasonOf()).to.equal(undefined);
    await index('partly-2026.01.15-000001', undefined, [LINE]);
    await index('partly-2026.02', undefined, [LINE]);
    expect(await reasonOf()).to.include('partly-2026.01.15-000001, partly-2026.02');
    await node.ask('PUT', '/partly-2026.01.15-000001/_alias/partly-2026.01.15');
    expect(await reasonOf()).to.match(/names of partly-2026.02 are/);
    await node.ask('DELETE', '/partly-2026.02');
    expect(await reasonOf()).to.equal(undefined);
    await index('restored', undefined, [LINE]);
    await node.ask('PUT', '/restored/_alias/aliased-2026.01.15');
    expect(await faultOf({ indexPrefix: 'aliased', dailyIndices: true })).to.equal(undefined);
  });

  it('is reported by the health check for data streams with daily names', async () => {
    const stream = { index_patterns: ['stream-*'], priority: 300, data_stream: {} };
    await node.ask('PUT', '/_index_template/stream', stream);
    await node.ask('PUT', '/_data_stream/stream-app');
    const { time, ...rest } = LINE as { readonly time: string };
    await node.ask('POST', '/stream-app/_doc?refresh=true', { '@timestamp': time, ...rest });
    const optionOf = async (options: object) =>
      (await faultOf({ indexPrefix: 'stream', ...options }))?.option;
    const fields = { ...FIELDS, time: '@timestamp' };
    expect(await optionOf({ dailyIndices: false, fields })).to.equal(undefined);
    expect(await optionOf({ dailyIndices: false })).to.match(/^logging.opensearch/);
    expect(await optionOf({ dailyIndices: true, fields })).to.equal('logging.opensearch.dailyIndices');
    for (const dailyIndices of [true, false]) {
      const option = await optionOf({ indexPrefix: 'nothing-yet', dailyIndices });
      expect(option).to.equal('logging.opensearch.indexPrefix');
    }
    await node.ask('DELETE', '/_data_stream/stream-app');
  });

  it('can be that of a shrunk index on the next page of a cursor', async () => {
    const lines = Array.from({ length: 12 }, (_, n) => `line ${n}`);
    await node.ask('PUT', '/moved-1', { settings: { number_of_shards: 2, number_of_replicas: 0 } });
    for (const line of lines) await node.ask('POST', '/moved-1/_doc', document('2026-01-15T10:00:00Z', line));
    await node.ask('POST', '/moved-1/_refresh');
    await node.ask('PUT', '/moved-1/_settings', { 'index.blocks.write': true });
    const store = storeOf('moved');
    const first = await store.query(ALL, { order: 'asc', size: 5, from: 0 }, call());
    const settings = { 'index.number_of_shards': 1, 'index.number_of_replicas': 0 };
    await node.ask('POST', '/moved-1/_shrink/moved-2?wait_for_active_shards=all', { settings });
    await node.ask('DELETE', '/moved-1');
    const after = first.next ?? expect.fail();
    const { records } = await store.query(ALL, { order: 'asc', size: 20, from: 0, after }, call());
    const all = [...first.records, ...records].map(({ log }) => log);
    expect(all.toSorted()).to.deep.equal(lines.toSorted());
  });
});
