// Indices as collectors and templates leave them behind, in whatever shape.
import { expect } from 'chai';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';
import type { LogStore, Selection } from '../../../../../../server/logging/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { FIELDS, storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { type StartedNode, startedNode } from './started-node.ts';

const ALL: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-14T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' },
};
const OF_WEB: Selection['scope'] = {
  everything: false,
  namespaces: [{ name: 'web', since: '1970-01-01T00:00:00.000000000Z' }],
};
const TEN = Date.parse('2026-01-15T10:00:00Z') / 1_000;

function document(time: unknown, log: unknown): object {
  return { time, log, kubernetes: { namespace_name: 'web', pod_name: 'web-1', container_name: 'app' } };
}

describe('a node of OpenSearch with odd indices', function () {
  this.timeout(180_000);
  let node: StartedNode;

  before(async function () {
    this.timeout(300_000);
    node = await startedNode(this);
  });

  after(async () => {
    await node?.stop();
  });

  const index = async (name: string, time: object | undefined, documents: readonly object[]) => {
    const mappings = time === undefined ? {} : { mappings: { properties: { time } } };
    await node.ask('PUT', `/${name}`, mappings);
    for (const each of documents) await node.ask('POST', `/${name}/_doc`, each);
    await node.ask('POST', `/${name}/_refresh`);
  };
  const linesOf = async (store: LogStore, selection = ALL) => {
    const page = await store.query(selection, { order: 'asc', size: 20, from: 0 }, call());
    return { ...page, lines: page.records.map(({ time, log }) => [time.slice(0, 26), log]) };
  };
  const faultOf = async (rest: Parameters<typeof storeAt>[1]) => {
    const error = await storeAt(node.url, rest)
      .check(call())
      .catch((caught: unknown) => caught);
    return unfitOptionIn(error)?.option;
  };

  it('tells times as their mapping reads them, however they are written', async () => {
    await index('times-seconds', { type: 'date', format: 'epoch_second' }, [
      document(TEN, 'a number of seconds'),
      document(`${TEN + 1}.5`, 'digits'),
    ]);
    await index('times-plain', undefined, [document('2026-01-15T12:00:02.25+02:00', 'another zone')]);
    await index('times-digits', { type: 'date', format: 'yyyyMMddHHmmss' }, [
      document('20260115100003', 'no separators'),
    ]);
    await index('times-nanos', { type: 'date_nanos' }, [
      document(TEN * 1_000 + 4_001, 'milliseconds as a number'),
      document('2026-01-15T10:00:05.000001999Z', 'nanoseconds'),
    ]);
    await index('times-nano-seconds', { type: 'date_nanos', format: 'epoch_second' }, [
      document(`${TEN + 6}.000042`, 'microseconds'),
    ]);
    const { lines } = await linesOf(storeAt(node.url, { indexPrefix: 'times', dailyIndices: false }));
    expect(lines).to.deep.equal([
      ['2026-01-15T10:00:00.000000', 'a number of seconds'],
      ['2026-01-15T10:00:01.500000', 'digits'],
      ['2026-01-15T10:00:02.250000', 'another zone'],
      ['2026-01-15T10:00:03.000000', 'no separators'],
      ['2026-01-15T10:00:04.001000', 'milliseconds as a number'],
      ['2026-01-15T10:00:05.000001', 'nanoseconds'],
      ['2026-01-15T10:00:06.000042', 'microseconds'],
    ]);
  });

  it('shows all of a list of texts, any of which is found', async () => {
    await index('lists', undefined, [document('2026-01-15T10:00:00Z', ['one', null, 'two'])]);
    const text = { mode: 'phrase', texts: ['two'], caseSensitive: false } as const;
    const store = storeAt(node.url, { indexPrefix: 'lists', dailyIndices: false });
    const { lines } = await linesOf(store, { ...ALL, text });
    expect(lines).to.deep.equal([['2026-01-15T10:00:00.000000', 'one\ntwo']]);
  });

  it('shows no newlines at the end of a line, and finds the line as if there were none', async () => {
    const log = { type: 'text', fields: { wildcard: { type: 'wildcard' } } };
    await node.ask('PUT', '/ends', { mappings: { properties: { log } } });
    const written = ['none', 'one\n', 'several\n\n\n', 'within\nand return\r\n'];
    for (const [second, line] of written.entries())
      await node.ask('POST', '/ends/_doc', document(`2026-01-15T10:00:0${second}Z`, line));
    await node.ask('POST', '/ends/_refresh');
    const store = storeAt(node.url, { indexPrefix: 'ends', dailyIndices: false });
    const said = async (pattern: string) => {
      const text = { mode: 'regex', texts: [pattern], caseSensitive: true } as const;
      return (await linesOf(store, { ...ALL, text })).lines.map(([, line]) => line);
    };
    expect(await said('.')).to.deep.equal(['none', 'one', 'several', 'within\nand return\r']);
    expect(await said('[el]$')).to.deep.equal(['none', 'one', 'several']);
  });

  for (const dailyIndices of [true, false]) {
    const naming = dailyIndices ? 'a day' : 'any name';
    it(`answers from the others where the time of one of ${naming} is none, and says so`, async () => {
      const indexPrefix = `untimed-${dailyIndices}`;
      await index(`${indexPrefix}-2026.01.14`, { type: 'keyword' }, [
        document('2026-01-14T10:00:00Z', 'a word'),
      ]);
      await index(`${indexPrefix}-2026.01.15`, { type: 'date' }, [
        document('2026-01-15T10:00:00Z', 'a line'),
        document('2026-01-15T10:00:01Z', 'another'),
      ]);
      const store = storeAt(node.url, { indexPrefix, dailyIndices });
      const { lines, total, shortfalls } = await linesOf(store, { ...ALL, scope: OF_WEB });
      expect(lines.map(([, log]) => log)).to.deep.equal(['a line', 'another']);
      expect(total).to.deep.equal({ count: 2, relation: 'gte' });
      expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
      const exported: string[] = [];
      for await (const batch of store.export(ALL, 'desc', call())) {
        exported.push(...Array.from(batch, ({ log }) => log));
      }
      expect(exported).to.deep.equal(['another', 'a line']);
      const { logs } = await store.statistics(ALL, call());
      expect(logs).to.deep.equal({ count: 2, relation: 'gte' });
      const leaving = new AbortController();
      for await (const batch of store.follow(ALL, leaving)) {
        expect(batch.map(({ log }) => log)).to.deep.equal(['a line', 'another']);
        leaving.abort();
      }
    });
  }

  it('is not fit where indices that are rolled over are said to be those of days', async () => {
    await index('rolled-2026.01.15-000001', undefined, [document('2026-01-15T10:00:00Z', 'a line')]);
    expect(await faultOf({ indexPrefix: 'rolled', dailyIndices: true })).to.equal(
      'logging.opensearch.dailyIndices',
    );
    expect(await faultOf({ indexPrefix: 'rolled', dailyIndices: false })).to.equal(undefined);
  });

  it('is not fit where some of the indices are rolled over or have other names, unless days are their aliases', async () => {
    const reasonOf = async () => {
      const error = await storeAt(node.url, { indexPrefix: 'partly' })
        .check(call())
        .catch((caught: unknown) => caught);
      return unfitOptionIn(error)?.reason;
    };
    await index('partly-2026.01.14', undefined, [document('2026-01-14T10:00:00Z', 'a line')]);
    await index('partly-other-2026.01.14-1', undefined, [document('2026-01-14T10:00:00Z', 'of others')]);
    expect(await reasonOf()).to.equal(undefined);
    for (const name of ['2026.01.15-000001', '2026-01-16', '2026.02']) {
      await index(`partly-${name}`, undefined, [document('2026-01-15T10:00:00Z', 'a line')]);
    }
    expect(await reasonOf()).to.equal('partly-2026.02 and others are not named by the day');
    await node.ask('PUT', '/partly-2026.01.15-000001/_alias/partly-2026.01.15');
    await node.ask('PUT', '/partly-2026-01-16/_alias/partly-2026.01.16');
    expect(await reasonOf()).to.equal('partly-2026.02 is not named by the day');
    await node.ask('DELETE', '/partly-2026.02');
    expect(await reasonOf()).to.equal(undefined);
  });

  it('finds no words where lines are not indexed, says so, and finds the rest', async () => {
    const wordless = { type: 'text', index: false, fields: { wildcard: { type: 'wildcard' } } };
    await node.ask('PUT', '/_index_template/wordless', {
      index_patterns: ['wordless-1'],
      template: { mappings: { properties: { log: wordless } } },
    });
    await index('wordless-1', undefined, [
      document('2026-01-15T10:00:00Z', 'E0115 a line'),
      document('2026-01-15T10:00:01Z', 'level=info another'),
    ]);
    const store = storeAt(node.url, { indexPrefix: 'wordless', dailyIndices: false });
    const asked = async (rest: Partial<Selection>) => {
      const page = await linesOf(store, { ...ALL, ...rest }).catch((error: unknown) => error);
      return page instanceof Error ? page : (page as { lines: string[][] }).lines.map(([, log]) => log);
    };
    expect(await faultOf({ indexPrefix: 'wordless', dailyIndices: false })).to.equal(
      'logging.opensearch.fields',
    );
    for (const mode of ['phrase', 'prefix'] as const) {
      const refused = await asked({ text: { mode, texts: ['line'], caseSensitive: false } });
      expect(refused).to.include({ code: 400 });
      expect(refused).to.match(/log_query: .* do not index `log`/);
    }
    expect(await asked({})).to.have.length(2);
    const substring = { mode: 'substring', texts: ['line'], caseSensitive: false } as const;
    expect(await asked({ text: substring })).to.deep.equal(['E0115 a line']);
    expect(await asked({ levels: ['error'] })).to.deep.equal(['E0115 a line']);
    await index('wordless-2', undefined, [document('2026-01-15T10:00:02Z', 'a line with words')]);
    const some = storeAt(node.url, { indexPrefix: 'wordless', dailyIndices: false });
    const phrase = { mode: 'phrase', texts: ['line'], caseSensitive: false } as const;
    const { lines, shortfalls } = await linesOf(some, { ...ALL, text: phrase });
    expect(lines.map(([, log]) => log)).to.deep.equal(['a line with words']);
    expect(shortfalls).to.deep.include({
      reason: 'NotCovered',
      message: '1 of 2 indices have no field that can be asked this',
    });
    expect(await faultOf({ indexPrefix: 'wordless', dailyIndices: false })).to.equal(
      'logging.opensearch.fields',
    );
  });

  for (const [kind, said] of [
    ['number', 5],
    ['date', '2026-01-15'],
    ['structure', { msg: 'a line' }],
  ] as const) {
    it(`finds words in the other indices where the first line of one was a ${kind}, and is not fit`, async () => {
      const naming = { indexPrefix: `first-${kind}`, dailyIndices: false };
      await index(`first-${kind}-1`, undefined, [document('2026-01-15T10:00:00Z', said)]);
      const phrase = { ...ALL, text: { mode: 'phrase', texts: ['line'], caseSensitive: false } } as const;
      await index(`first-${kind}-2`, undefined, [document('2026-01-15T10:00:01Z', 'a line')]);
      const store = storeAt(node.url, naming);
      const { lines, total, shortfalls } = await linesOf(store, phrase);
      expect(lines.map(([, log]) => log)).to.deep.equal(['a line']);
      expect(total).to.deep.equal({ count: 1, relation: 'gte' });
      const message = '1 of 2 indices have no field that can be asked this';
      expect(shortfalls).to.deep.equal([{ reason: 'NotCovered', message }]);
      const leaving = new AbortController();
      for await (const batch of store.follow(phrase, leaving)) {
        expect(batch.map(({ log }) => log)).to.deep.equal(['a line']);
        leaving.abort();
      }
      expect((await linesOf(store)).lines).to.have.length(2);
      expect(await faultOf(naming)).to.equal('logging.opensearch.fields');
    });
  }

  it('finds parts of lines and levels also where one index has no words, and another has', async () => {
    const naming = { indexPrefix: 'partly-wordless', dailyIndices: false };
    const fields = { wildcard: { type: 'wildcard' } };
    for (const [n, log] of [
      { type: 'text', index: false, fields },
      { type: 'text', fields },
    ].entries()) {
      await node.ask('PUT', `/partly-wordless-${n}`, { mappings: { properties: { log } } });
      const line = document(`2026-01-15T10:00:0${n}Z`, 'E0115 a line');
      await node.ask('POST', `/partly-wordless-${n}/_doc?refresh=true`, line);
    }
    const store = storeAt(node.url, naming);
    const substring = { mode: 'substring', texts: ['line'], caseSensitive: false } as const;
    for (const selection of [
      { ...ALL, text: substring },
      { ...ALL, levels: ['error'] },
    ] as const) {
      const { total, shortfalls } = await linesOf(store, selection);
      expect(total).to.deep.equal({ count: 2, relation: 'eq' });
      expect(shortfalls).to.deep.equal([]);
    }
  });

  it('answers whole, and is fit, where an index beside has never had a line', async () => {
    await index('fresh-000001', undefined, [document('2026-01-15T10:00:00Z', 'a line')]);
    await node.ask('PUT', '/fresh-000002');
    const store = storeAt(node.url, { indexPrefix: 'fresh', dailyIndices: false });
    const { lines, total, shortfalls } = await linesOf(store);
    expect(lines.map(([, log]) => log)).to.deep.equal(['a line']);
    expect(total).to.deep.equal({ count: 1, relation: 'eq' });
    expect(shortfalls).to.deep.equal([]);
    const exported = store.export(ALL, 'asc', call());
    expect(await Array.fromAsync(exported, (batch) => batch.length)).to.deep.equal([1]);
    const leaving = new AbortController();
    for await (const batch of store.follow(ALL, leaving)) {
      expect(batch.map(({ log }) => log)).to.deep.equal(['a line']);
      leaving.abort();
    }
    expect(await faultOf({ indexPrefix: 'fresh', dailyIndices: false })).to.equal(undefined);
  });

  /** What every operation answers: how many lines, and what it says is missing. */
  const answersOf = async (store: LogStore, selection: Selection) => {
    const page = await linesOf(store, selection);
    const { logs, ...counted } = await store.statistics(selection, call());
    const edges = [selection.range.start, selection.range.end].map((time) => Date.parse(time));
    const histogram = await store.histogram(selection, { edges }, call());
    const lines = store.export(selection, 'asc', call());
    let exported = 0;
    let next = await lines.next();
    for (; !next.done; next = await lines.next()) exported += next.value.length;
    const answers = [page, counted, histogram, next.value];
    return {
      lines: [page.lines.length, page.total.count, logs.count, histogram.total.count, exported],
      missing: answers.map(({ shortfalls }) => shortfalls.map(({ reason }) => reason).join()),
    };
  };

  it('finds nothing, and has no fault, where there is no line yet, and the first one at once', async () => {
    const time = { properties: { time: { type: 'date' } } };
    for (const [name, mappings] of [
      ['unmapped', {}],
      ['half-mapped', time],
    ] as const) {
      const naming = { indexPrefix: `empty-${name}`, dailyIndices: false };
      await node.ask('PUT', `/empty-${name}-1`, { mappings });
      const store = storeAt(node.url, naming);
      const text = { mode: 'phrase', texts: ['line'], caseSensitive: false } as const;
      for (const rest of [{}, { scope: OF_WEB }, { text }, { levels: ['error'] }] as const) {
        expect(await answersOf(store, { ...ALL, ...rest }), name).to.deep.equal({
          lines: [0, 0, 0, 0, 0],
          missing: ['', '', '', ''],
        });
      }
      expect(await faultOf(naming)).to.equal('logging.opensearch.indexPrefix');
      const leaving = new AbortController();
      const followed = store.follow(ALL, leaving);
      const first = followed.next();
      await node.ask(
        'POST',
        `/empty-${name}-1/_doc?refresh=true`,
        document('2026-01-15T10:00:00Z', 'a line'),
      );
      expect((await linesOf(store)).lines).to.have.length(1);
      expect((await first).value).to.have.length(1);
      leaving.abort();
      await followed.return();
      expect(await faultOf(naming)).to.equal(undefined);
    }
  });

  it('is unavailable where it cannot be told whether there is a line', async () => {
    await node.ask('PUT', '/unknown-1');
    const nobody = { 'index.routing.allocation.require._name': 'nobody' };
    await node.ask('PUT', '/unknown-2?wait_for_active_shards=0', { settings: nobody });
    const store = storeAt(node.url, { indexPrefix: 'unknown', dailyIndices: false });
    expect(await linesOf(store).catch((error: unknown) => error)).to.include({ code: 503 });
    await index('unknown-3', undefined, [document('2026-01-15T10:00:00Z', 'a line')]);
    expect(await answersOf(store, ALL)).to.deep.equal({
      lines: [1, 1, 1, 1, 1],
      missing: ['ShardFailed', 'ShardFailed', 'ShardFailed', 'ShardFailed'],
    });
  });

  for (const [what, mapped, rest] of [
    ['names', { log: { type: 'text' }, time: { type: 'date' } }, { scope: OF_WEB }],
    ['times', { log: { type: 'text' } }, {}],
    [
      'lines',
      { time: { type: 'date' } },
      { text: { mode: 'phrase', texts: ['line'], caseSensitive: false } },
    ],
  ] as const) {
    it(`says that an index is missing that has ${what}, and does not map them`, async () => {
      const indexPrefix = `unmapped-${what}`;
      await index(`${indexPrefix}-1`, undefined, [document('2026-01-15T10:00:00Z', 'a line')]);
      await node.ask('PUT', `/${indexPrefix}-2`, { mappings: { dynamic: false, properties: mapped } });
      const store = () => storeAt(node.url, { indexPrefix, dailyIndices: false });
      const whole = { lines: [1, 1, 1, 1, 1], missing: ['', '', '', ''] };
      // It holds nothing, or what has no such fields.
      expect(await answersOf(store(), { ...ALL, ...rest })).to.deep.equal(whole);
      await node.ask('POST', `/${indexPrefix}-2/_doc?refresh=true`, { message: 'of another kind' });
      expect(await answersOf(store(), { ...ALL, ...rest })).to.deep.equal(whole);
      await node.ask(
        'POST',
        `/${indexPrefix}-2/_doc?refresh=true`,
        document('2026-01-15T10:00:00Z', 'a line'),
      );
      expect(await answersOf(store(), { ...ALL, ...rest })).to.deep.equal({
        ...whole,
        missing: ['NotCovered', 'NotCovered', 'NotCovered', 'NotCovered'],
      });
    });
  }

  it('is not fit where a field is named that lies beside the one of records, but may count containers by it', async () => {
    const line = document('2026-01-15T10:00:00Z', 'a line') as { readonly kubernetes: object };
    await index('beside', undefined, [{ ...line, kubernetes: { ...line.kubernetes, docker_id: 'one' } }]);
    const faultWith = (fields: object) =>
      faultOf({ indexPrefix: 'beside', dailyIndices: false, fields: { ...FIELDS, ...fields } });
    expect(await faultWith({ pod: 'kubernetes.pod_name.keyword' })).to.equal('logging.opensearch.fields');
    expect(await faultWith({ containerID: 'kubernetes.docker_id.keyword' })).to.equal(undefined);
  });

  it('is fit where days are aliases', async () => {
    await index('restored', undefined, [document('2026-01-15T10:00:00Z', 'a line')]);
    await node.ask('PUT', '/restored/_alias/aliased-2026.01.15');
    const wallClock = () => Date.parse('2026-01-20T10:00:00Z');
    expect(await faultOf({ indexPrefix: 'aliased', dailyIndices: true, wallClock })).to.equal(undefined);
  });

  it('answers from the others where one cannot put times in order, and is not fit where none can', async () => {
    const line = document('2026-01-15T10:00:00Z', 'a line');
    await index('orderless-1', { type: 'date', doc_values: false }, [line]);
    const naming = { indexPrefix: 'orderless', dailyIndices: false };
    expect(await faultOf(naming)).to.equal('logging.opensearch.fields');
    await index('orderless-2', { type: 'date' }, [line]);
    expect(await faultOf(naming)).to.equal(undefined);
    const { total, shortfalls } = await linesOf(storeAt(node.url, naming));
    expect(total).to.deep.equal({ count: 1, relation: 'gte' });
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
  });

  it('is not fit where names lie in nested objects, and no namespace seems empty there', async () => {
    const properties = {
      kubernetes: { type: 'nested', properties: { namespace_name: { type: 'keyword' } } },
    };
    const line = document('2026-01-15T10:00:00Z', 'a line');
    await node.ask('PUT', '/nested-1', { mappings: { properties } });
    await node.ask('POST', '/nested-1/_doc?refresh=true', line);
    expect(await faultOf({ indexPrefix: 'nested', dailyIndices: false })).to.equal(
      'logging.opensearch.fields',
    );
    const ofWeb = { ...ALL, scope: OF_WEB };
    const store = storeAt(node.url, { indexPrefix: 'nested', dailyIndices: false });
    expect((await linesOf(store)).lines).to.have.length(1);
    expect(await linesOf(store, ofWeb).catch((error: unknown) => error)).to.include({ code: 400 });
    await index('nested-2', undefined, [line]);
    const some = await linesOf(storeAt(node.url, { indexPrefix: 'nested', dailyIndices: false }), ofWeb);
    expect(some.total).to.deep.equal({ count: 1, relation: 'gte' });
    expect(some.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
  });

  for (const [how, shards] of [
    ['_clone', 2],
    ['_shrink', 1],
  ] as const) {
    it(`goes on with the next line where an index got another name by ${how} between two pages`, async () => {
      const indexPrefix = `moved${how}`;
      const lines = Array.from({ length: 12 }, (_, n) => `line ${n}`);
      await node.ask('PUT', `/${indexPrefix}-1`, {
        settings: { number_of_shards: 2, number_of_replicas: 0 },
      });
      for (const line of lines) {
        await node.ask('POST', `/${indexPrefix}-1/_doc`, document('2026-01-15T10:00:00Z', line));
      }
      await node.ask('POST', `/${indexPrefix}-1/_refresh`);
      await node.ask('PUT', `/${indexPrefix}-1/_settings`, { 'index.blocks.write': true });
      const page = { order: 'asc', size: 5, from: 0 } as const;
      const store = () => storeAt(node.url, { indexPrefix, dailyIndices: false });
      const first = await store().query(ALL, page, call());
      const settings = { 'index.number_of_shards': shards, 'index.number_of_replicas': 0 };
      await node.ask('POST', `/${indexPrefix}-1/${how}/${indexPrefix}-2?wait_for_active_shards=all`, {
        settings,
      });
      await node.ask('DELETE', `/${indexPrefix}-1`);
      const { records } = await store().query(
        ALL,
        { ...page, size: 20, after: first.next ?? expect.fail() },
        call(),
      );
      const all = [...first.records, ...records].map(({ log }) => log);
      expect(all.toSorted()).to.deep.equal(lines.toSorted());
    });
  }

  it('counts the containers of the other indices where one has no doc_values, and is not fit', async () => {
    const keyword = { type: 'keyword', doc_values: false };
    const kubernetes = { properties: { docker_id: keyword, namespace_name: keyword } };
    await node.ask('PUT', '/valueless-1', { mappings: { properties: { kubernetes } } });
    const line = (docker_id: string) => ({
      time: '2026-01-15T10:00:00Z',
      log: 'a line',
      kubernetes: { namespace_name: 'web', pod_name: 'web-1', container_name: 'app', docker_id },
    });
    await node.ask('POST', '/valueless-1/_doc?refresh=true', line('one'));
    const naming = { indexPrefix: 'valueless', dailyIndices: false };
    const counted = (selection = ALL) => storeAt(node.url, naming).statistics(selection, call());
    expect(await counted()).to.deep.equal({
      logs: { count: 1, relation: 'eq' },
      containers: 0,
      containersApproximate: true,
      shortfalls: [],
    });
    expect(await faultOf(naming)).to.equal('logging.opensearch.fields');
    // So many that the store would be asked which of them there are, or what they have.
    const long = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(100, 'x'));
    const bySearching = { ...ALL, namespaces: { contains: [...long, 'web'] } };
    const refused = await counted(bySearching).catch((error: unknown) => error);
    expect(refused).to.include({ code: 400 });
    expect(refused).to.match(/namespace_query: .*`kubernetes.namespace_name` has to have doc_values/);
    const namespaces = Array.from({ length: 300 }, (_, n) => ({
      name: n === 0 ? 'web' : `web-${n}`,
      since: new Date(1_768_000_000_000 + n).toISOString().replace('Z', '000000Z'),
    }));
    expect((await counted({ ...ALL, scope: { everything: false, namespaces } })).logs.count).to.equal(1);
    const anew = [{ name: 'web', since: '2026-01-15T11:00:00.000000000Z' }, ...namespaces.slice(1)];
    expect((await counted({ ...ALL, scope: { everything: false, namespaces: anew } })).logs.count).to.equal(
      0,
    );
    await index('valueless-2', undefined, [line('two'), line('three')]);
    const both = await counted();
    expect(both).to.deep.include({ logs: { count: 3, relation: 'eq' }, containers: 2 });
    expect(both.containersApproximate).to.equal(true);
    const partly = await counted(bySearching);
    expect(partly.shortfalls.map(({ message }) => message)).to.deep.equal([
      '1 of 2 indices have no field that can be asked this',
    ]);
    expect((await counted({ ...ALL, scope: { everything: false, namespaces } })).logs.count).to.equal(3);
  });

  it('is not fit where indices keep no source', async () => {
    await node.ask('PUT', '/sourceless-1', { mappings: { _source: { enabled: false } } });
    await node.ask('POST', '/sourceless-1/_doc?refresh=true', document('2026-01-15T10:00:00Z', 'a line'));
    const naming = { indexPrefix: 'sourceless', dailyIndices: false };
    const refused = await linesOf(storeAt(node.url, naming)).catch((error: unknown) => error);
    expect(refused).to.include({ code: 503 });
    expect(await faultOf(naming)).to.equal('logging.opensearch');
  });

  it('refuses more names than indices take, and says so', async () => {
    await index('few-names', undefined, [document('2026-01-15T10:00:00Z', 'a line')]);
    await node.ask('PUT', '/few-names/_settings', { 'index.max_terms_count': 2 });
    const namespaces = ['web', 'b', 'c'].map((name) => ({ name, since: '1970-01-01T00:00:00.000000000Z' }));
    const store = storeAt(node.url, { indexPrefix: 'few-names', dailyIndices: false });
    const selection = { ...ALL, scope: { everything: false, namespaces } };
    const refused = await linesOf(store, selection).catch((error: unknown) => error);
    expect(refused).to.include({ code: 400 });
    expect(refused).to.match(/namespaces: .*`index.max_terms_count`/);
  });

  it('is not fit where no line has one of the names', async () => {
    await index('nameless', undefined, [
      { time: '2026-01-15T10:00:00Z', log: 'a line', kubernetes: { pod_namespace: 'web' } },
    ]);
    expect(await faultOf({ indexPrefix: 'nameless', dailyIndices: false })).to.equal(
      'logging.opensearch.fields',
    );
  });
});
