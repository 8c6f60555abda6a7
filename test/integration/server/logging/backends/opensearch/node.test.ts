import { expect } from 'chai';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { unfilteredTemplate } from '../../../../../../hack/log-stores/recommended-template.ts';
import type { LogRecord } from '../../../../../../hack/log-stores/record.ts';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';
import type { Selection } from '../../../../../../server/logging/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { FIELDS, storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { until } from '../../../../../support/until.ts';
import { type StartedNode, startedNode } from './started-node.ts';

const DAY = { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
const ALL: Selection = { scope: { everything: true }, range: DAY };
const ALWAYS: Selection['range'] = {
  start: '1970-01-01T00:00:00.000000000Z',
  end: '2286-11-20T17:46:39.000000000Z',
};

function record(log: string, time: string, namespace = 'web'): LogRecord {
  return {
    log,
    time,
    stream: 'stdout',
    kubernetes: {
      pod_name: `${namespace}-1`,
      namespace_name: namespace,
      pod_id: '1',
      container_name: 'app',
      docker_id: `${namespace}-id`,
      container_image: 'app',
      host: 'node',
      labels: {},
    },
  };
}

describe('a node of OpenSearch', function () {
  this.timeout(180_000);
  let node: StartedNode;

  before(async function () {
    this.timeout(300_000);
    node = await startedNode(this);
  });

  after(async () => {
    await node?.stop();
  });

  it('has no point in time, scroll or search left after exports, whatever their end', async () => {
    const indexPrefix = 'exports';
    const records = Array.from({ length: 3_000 }, (_, n) =>
      record(`line ${n}`, `2026-01-15T10:00:00.${String(n).padStart(9, '0')}Z`),
    );
    await loadOpenSearch(node.url, records, { indexPrefix });
    const store = storeAt(node.url, { indexPrefix });
    const lines: string[] = [];
    for await (const batch of store.export(ALL, 'asc', call())) lines.push(...batch.map(({ log }) => log));
    expect(lines).to.deep.equal(records.map(({ log }) => log));
    const cut = store.export(ALL, 'desc', call());
    await cut.next();
    expect(await node.openContexts()).to.be.above(0);
    await cut.return({ shortfalls: [] });
    const leaving = new AbortController();
    const left = store.export(ALL, 'desc', call(leaving.signal));
    await left.next();
    leaving.abort();
    await left.next().catch(() => undefined);
    // What a cancelled search held the node lets go some milliseconds later; a point in time that was left, in minutes.
    while ((await node.openContexts()) > 0);
  });

  it('takes lines with NUL characters, and finds them', async () => {
    const indexPrefix = 'nul';
    const lines = ['abc\0d', 'h\0e\0l\0l\0o\0', '\0abc', 'a\0\0d', 'abcd'];
    const records = lines.map((log, n) => record(log, `2026-01-15T10:00:00.00000000${n}Z`));
    // Without the template's filter it would never come to the end of the first one.
    await loadOpenSearch(node.url, records, { indexPrefix, signal: AbortSignal.timeout(30_000) });
    const store = storeAt(node.url, { indexPrefix });
    for (const [mode, text, found] of [
      ['substring', 'c\0d', [0]],
      ['substring', '\0', [0, 1, 2, 3]],
      ['substring', 'bc', [0, 2, 4]],
      ['regex', '^a.*d$', [0, 3, 4]],
      ['regex', '[\\x00-\\x1f]', [0, 1, 2, 3]],
      ['regex', '^[^\\x01-\\x1f]{4}$', [2, 3, 4]],
      ['regex', '\\W', [0, 1, 2, 3]],
      ['phrase', 'abc', [0, 2]],
    ] as const) {
      const asked: Selection = { ...ALL, text: { mode, texts: [text], caseSensitive: true } };
      const page = await store.query(asked, { order: 'asc', size: 10, from: 0 }, call());
      expect(
        page.records.map(({ log }) => log),
        text,
      ).to.deep.equal(found.map((n) => lines[n]));
    }
  });

  it('takes a dotted capital i for a plain one in words, and nowhere else, as the docs say', async () => {
    const indexPrefix = 'dotted';
    await loadOpenSearch(node.url, [record('\u0130stanbul (hub)', '2026-01-15T10:00:00.000000000Z')], {
      indexPrefix,
    });
    const store = storeAt(node.url, { indexPrefix });
    for (const [mode, text, total] of [
      ['phrase', 'istanbul', 1],
      ['prefix', 'ist', 1],
      ['substring', 'istan', 1],
      ['substring', 'istanbul (', 0],
      ['substring', '\u0130stanbul (', 1],
      ['regex', '^i', 0],
    ] as const) {
      const asked: Selection = { ...ALL, text: { mode, texts: [text], caseSensitive: false } };
      const found = await store.query(asked, { order: 'asc', size: 1, from: 0 }, call());
      expect(found.total.count, `${mode} ${text}`).to.equal(total);
    }
  });

  it('gives each line once where shards share times and sequence numbers, page by page and as an export', async () => {
    const indexPrefix = 'shards';
    await node.ask('PUT', `/_index_template/${indexPrefix}`, {
      index_patterns: [`${indexPrefix}-*`],
      priority: 200,
      template: {
        settings: { number_of_shards: 5, number_of_replicas: 0 },
        mappings: (unfilteredTemplate(indexPrefix) as { template: { mappings: unknown } }).template.mappings,
      },
    });
    const time = '2026-01-15T10:00:00.123456789Z';
    const records = Array.from({ length: 300 }, (_, n) => record(`line ${n}`, time));
    await loadOpenSearch(node.url, records, { indexPrefix, template: 'dynamic' });
    const store = storeAt(node.url, { indexPrefix, pageSize: 7 });
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.query(
          ALL,
          { order, size: 7, from: 0, ...(after === undefined ? {} : { after }) },
          call(),
        );
        expect(page.total).to.deep.equal({ count: 300, relation: 'eq' });
        seen.push(...page.records.map(({ log }) => log));
        after = page.next;
      } while (after !== undefined);
      expect(seen).to.have.length(300);
      expect(new Set(seen).size).to.equal(300);
      const exported: string[] = [];
      for await (const batch of store.export(ALL, order, call()))
        exported.push(...batch.map(({ log }) => log));
      expect(new Set(exported).size).to.equal(300);
      expect(exported).to.have.length(300);
    }
  });

  it('has answers that tell what is missing while no node holds some index', async () => {
    const indexPrefix = 'red';
    await loadOpenSearch(node.url, [record('here', '2026-01-15T10:00:00.000000000Z')], { indexPrefix });
    const homeless = { settings: { 'index.routing.allocation.require._name': 'nobody' } };
    await node.ask('PUT', `/${indexPrefix}-2026.01.16?wait_for_active_shards=0`, homeless);
    const store = storeAt(node.url, { indexPrefix });
    const both: Selection = { ...ALL, range: { ...DAY, end: '2026-01-17T00:00:00.000000000Z' } };
    const page = await store.query(both, { order: 'asc', size: 10, from: 0 }, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(['here']);
    expect(page.total.relation).to.equal('gte');
    const exported = store.export(both, 'asc', call());
    await exported.next();
    const end = await exported.next();
    expect(end.done === true && end.value.shortfalls).to.deep.equal(page.shortfalls);
    const later: Selection = { ...ALL, range: { start: DAY.end, end: both.range.end } };
    const error = await store.statistics(later, call()).catch((caught: unknown) => caught);
    expect(error).to.include({ code: 503 });
    await node.ask('DELETE', `/${indexPrefix}-2026.01.*`);
  });

  it('is not fit, and says why, where indices have other fields or other names than those configured', async () => {
    const indexPrefix = 'stream';
    await node.ask('PUT', `/_index_template/${indexPrefix}`, {
      index_patterns: [`${indexPrefix}-*`],
      priority: 300,
      data_stream: {},
    });
    await node.ask('PUT', `/_data_stream/${indexPrefix}-app`);
    await node.ask('POST', `/${indexPrefix}-app/_doc?refresh=true`, {
      '@timestamp': DAY.start,
      log: 'a line',
      kubernetes: { namespace_name: 'web', pod_name: 'web-1', container_name: 'app' },
    });
    const fields = { ...FIELDS, time: '@timestamp' };
    const faultOf = async (rest: Parameters<typeof storeAt>[1]) => {
      const error = await storeAt(node.url, { indexPrefix, ...rest })
        .check(call())
        .catch((caught: unknown) => caught);
      return unfitOptionIn(error)?.option;
    };
    expect(await faultOf({ dailyIndices: false, fields })).to.equal(undefined);
    expect(await faultOf({ dailyIndices: false })).to.equal('logging.opensearch.fields');
    expect(await faultOf({ dailyIndices: true, fields })).to.equal('logging.opensearch.dailyIndices');
    for (const dailyIndices of [true, false]) {
      expect(await faultOf({ indexPrefix: 'nothing-yet', dailyIndices })).to.equal(
        'logging.opensearch.indexPrefix',
      );
    }
    await node.ask('DELETE', `/_data_stream/${indexPrefix}-app`);
  });

  it('shows 1,500 namespaces, each since another time, nothing of what was there before', async () => {
    const indexPrefix = 'many';
    const moment = (minute: number) =>
      new Date(Date.UTC(2026, 0, 15) + minute * 30_000).toISOString().replace('Z', '000000Z');
    const namespaces = Array.from({ length: 1_500 }, (_, n) => ({ name: `team-${n}`, since: moment(n) }));
    const records = namespaces.flatMap(({ name, since }, n) => [
      ...(n % 10 === 0 && n > 0 ? [record('of the predecessor', moment(n - 1), name)] : []),
      record('own', since, name),
    ]);
    await loadOpenSearch(node.url, records, { indexPrefix });
    const store = storeAt(node.url, { indexPrefix });
    const selection: Selection = { scope: { everything: false, namespaces }, range: ALWAYS };
    const page = await store.query(selection, { order: 'asc', size: 1_000, from: 0 }, call());
    expect(page.total).to.deep.equal({ count: 1_500, relation: 'eq' });
    expect(new Set(page.records.map(({ log }) => log))).to.deep.equal(new Set(['own']));
    expect(await store.statistics(selection, call())).to.deep.include({
      logs: { count: 1_500, relation: 'eq' },
      containers: 1_500,
    });
    const edges = [Date.UTC(2026, 0, 15), Date.UTC(2026, 0, 16)];
    expect((await store.histogram(selection, { edges }, call())).counts).to.deep.equal([1_500]);
    let exported = 0;
    for await (const batch of store.export(selection, 'asc', call())) exported += batch.length;
    expect(exported).to.equal(1_500);
  });

  it('shows all that 1,500 namespaces wrote which each had a predecessor, and nothing of these', async () => {
    const indexPrefix = 'anew';
    const many = 1_500;
    const moment = (step: number) =>
      new Date(Date.UTC(2026, 0, 14, 20) + step * 20_000).toISOString().replace('Z', '000000Z');
    const namespaces = Array.from({ length: many }, (_, n) => ({ name: `team-${n}`, since: moment(n + 1) }));
    const records = namespaces.flatMap(({ name, since }, n) => [
      record(`of the predecessor of ${name}`, moment(n), name),
      record(`first of ${name}`, since, name),
      record(`last of ${name}`, moment(many + 1), name),
    ]);
    await loadOpenSearch(node.url, records, { indexPrefix });
    const own = records.map(({ log }) => log).filter((log) => !log.startsWith('of'));
    const store = storeAt(node.url, { indexPrefix });
    const selection: Selection = { scope: { everything: false, namespaces }, range: ALWAYS };
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.query(
          selection,
          { order, size: 700, from: 0, ...(after === undefined ? {} : { after }) },
          call(),
        );
        expect(page.shortfalls).to.deep.equal([]);
        expect(page.total).to.deep.equal({ count: 2 * many, relation: 'eq' });
        seen.push(...page.records.map(({ log }) => log));
        after = page.next;
      } while (after !== undefined);
      expect(seen.toSorted()).to.deep.equal(own.toSorted());
      const skipping = await store.query(selection, { order, size: 50, from: 1_234 }, call());
      expect(skipping.records.map(({ log }) => log)).to.deep.equal(seen.slice(1_234, 1_284));
      const exported: string[] = [];
      for await (const batch of store.export(selection, order, call()))
        exported.push(...batch.map(({ log }) => log));
      expect(exported).to.deep.equal(seen);
    }
    expect(await store.query(selection, { order: 'asc', size: 0, from: 0 }, call())).to.deep.include({
      total: { count: 2 * many, relation: 'eq' },
    });
    expect(await store.statistics(selection, call())).to.deep.equal({
      logs: { count: 2 * many, relation: 'eq' },
      containers: many,
      containersApproximate: false,
      shortfalls: [],
    });
    const edges = [14, 15, 16].map((day) => Date.UTC(2026, 0, day));
    const firstDay =
      own.length - records.filter(({ log, time }) => !log.startsWith('of') && time >= DAY.start).length;
    const { counts, total } = await store.histogram(selection, { edges }, call());
    expect(counts).to.deep.equal([firstDay, own.length - firstDay]);
    expect(total).to.deep.equal({ count: own.length, relation: 'eq' });
    const followed: string[] = [];
    for await (const batch of store.follow(selection, call())) {
      followed.push(...batch.map(({ log }) => log));
      if (followed.length >= own.length) break;
    }
    expect(followed.toSorted()).to.deep.equal(own.toSorted());
  });

  it('finds the first lines among very many, wherever they are, without putting all of them in order', async () => {
    const indexPrefix = 'broad';
    // Nothing in the last hours, little before, and many at once in the beginning, all of one time but for some.
    const times = Array.from({ length: 45_000 }, (_, n) =>
      n < 44_000
        ? Date.UTC(2026, 0, 15, 1) + Math.floor(n / 500)
        : Date.UTC(2026, 0, 15, 1) + (n - 44_000) * (n - 44_000) * 20,
    );
    const records = times.map((ms, n) =>
      record(`line ${n}`, `${new Date(ms).toISOString().slice(0, -1)}${String(n % 7).padStart(6, '0')}Z`),
    );
    await loadOpenSearch(node.url, records, { indexPrefix });
    const store = storeAt(node.url, { indexPrefix });
    const byTime = records.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    for (const range of [DAY, ALWAYS, { ...DAY, end: '2026-01-15T01:00:00.080000000Z' }]) {
      const within = byTime.filter(({ time }) => time < range.end);
      for (const order of ['asc', 'desc'] as const) {
        const expected = order === 'asc' ? within : within.toReversed();
        const page = (from: number, size: number, after?: string) =>
          store.query(
            { scope: { everything: true }, range },
            { order, size, from, ...(after === undefined ? {} : { after }) },
            call(),
          );
        const first = await page(0, 1_000);
        const second = await page(0, 1_000, first.next);
        const answers = [
          [0, first],
          [1_000, second],
          [700, await page(700, 10)],
          [9_000, await page(9_000, 1_000)],
        ] as const;
        for (const [from, { records: found, total, shortfalls }] of answers) {
          const wanted = expected.slice(from, from + found.length);
          expect(found.map(({ time }) => time)).to.deep.equal(wanted.map(({ time }) => time));
          expect(total).to.deep.equal({ count: within.length, relation: 'eq' });
          expect(shortfalls).to.deep.equal([]);
        }
        const twice = new Set([...first.records, ...second.records].map(({ log }) => log));
        expect(twice.size).to.equal(2_000);
      }
    }
  });

  it('tells whole names from parts of them where days were mapped differently', async () => {
    const indexPrefix = 'mixed';
    await loadOpenSearch(
      node.url,
      [
        record('a', '2026-01-14T10:00:00.000000001Z', 'team-a'),
        record('b', '2026-01-14T10:00:00.000000002Z', 'team'),
      ],
      {
        indexPrefix,
        template: 'dynamic',
      },
    );
    await loadOpenSearch(
      node.url,
      [
        record('c', '2026-01-15T10:00:00.000000001Z', 'team-a'),
        record('d', '2026-01-15T10:00:00.000000002Z', 'team'),
      ],
      {
        indexPrefix,
      },
    );
    const store = storeAt(node.url, { indexPrefix });
    const range = { start: '2026-01-14T00:00:00.000000000Z', end: DAY.end };
    const scope: Selection['scope'] = {
      everything: false,
      namespaces: [{ name: 'team', since: ALWAYS.start }],
    };
    const page = await store.query({ scope, range }, { order: 'asc', size: 10, from: 0 }, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(['b', 'd']);
    const parts: Selection = { scope, range, text: { mode: 'regex', texts: ['[bd]'], caseSensitive: true } };
    const { shortfalls, total } = await store.query(parts, { order: 'asc', size: 10, from: 0 }, call());
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    expect(total.relation).to.equal('gte');
    const counted = await store.statistics({ scope: { everything: true }, range }, call());
    expect(counted).to.deep.include({ shortfalls: [], containersApproximate: true });
    expect(counted.logs).to.deep.equal({ count: 4, relation: 'eq' });
    const many = Array.from({ length: 150 }, (_, n) => ({
      name: `none-${n}`,
      since: `2026-01-14T12:00:00.${String(n).padStart(9, '0')}Z`,
    }));
    const anew: Selection['scope'] = {
      everything: false,
      namespaces: [...many, { name: 'team', since: '2026-01-14T12:00:00.000000000Z' }],
    };
    const since = await store.query({ scope: anew, range }, { order: 'asc', size: 10, from: 0 }, call());
    expect(since.records.map(({ log }) => log)).to.deep.equal(['d']);
    const names = Array.from({ length: 100 }, (_, n) => `${'x'.repeat(90)}${n}`);
    const named = await store.query(
      { scope: { everything: true }, range, namespaces: { contains: ['eam-a', ...names] } },
      { order: 'asc', size: 10, from: 0 },
      call(),
    );
    expect(named.records.map(({ log }) => log)).to.deep.equal(['a', 'c']);
  });

  it('gives followers the lines that are found late, once', async () => {
    const indexPrefix = 'late';
    const at = (ms: number) => new Date(ms).toISOString().replace('Z', '000000Z');
    const now = Date.now();
    await loadOpenSearch(node.url, [record('first', at(now - 2_000))], { indexPrefix });
    const store = storeAt(node.url, { indexPrefix, followTuning: { pollMs: 20, retryMs: 20 } });
    const ending = new AbortController();
    const range = { start: at(now - 10_000), end: at(now) };
    const seen: string[] = [];
    const late: LogRecord[][] = [
      [record('second', at(now - 1_000))],
      [record('late', at(now - 5_000)), record('too', at(now - 1_000))],
      [record('late again', at(now - 1_500))],
    ];
    for await (const batch of store.follow({ scope: { everything: true }, range }, call(ending.signal))) {
      seen.push(...batch.map(({ log }) => log));
      if (seen.length === 5) break;
      const next = [1, 2, 4].includes(seen.length) ? late.shift() : undefined;
      if (next) await loadOpenSearch(node.url, next, { indexPrefix });
    }
    expect(seen.toSorted()).to.deep.equal(['first', 'late', 'late again', 'second', 'too']);
  });

  it('gives an export all of its lines though it has no memory for requests now and then', async () => {
    const indexPrefix = 'exhausted';
    const records = Array.from({ length: 2_000 }, (_, n) =>
      record(
        `line ${n} ${'of some length '.repeat(50)}`,
        `2026-01-15T10:00:00.${String(n).padStart(9, '0')}Z`,
      ),
    );
    await loadOpenSearch(node.url, records, { indexPrefix });
    const limit = (most: string | null) =>
      node.ask('PUT', '/_cluster/settings', { transient: { 'indices.breaker.total.limit': most } });
    const tripped = async () => {
      const stats = (await node.ask('GET', '/_nodes/stats/breaker')) as {
        nodes: Record<string, { breakers: { parent: { tripped: number } } }>;
      };
      return Object.values(stats.nodes).reduce((sum, { breakers }) => sum + breakers.parent.tripped, 0);
    };
    const before = await tripped();
    const untilTripped = () => until(async () => (await tripped()) > before);
    let refused: Promise<unknown> | undefined;
    const found: string[] = [];
    try {
      for await (const batch of storeAt(node.url, { indexPrefix }).export(ALL, 'asc', call())) {
        if (found.length === 0) {
          await limit('1b');
          refused = untilTripped().then(() => limit(null));
          refused.catch(() => undefined);
        }
        found.push(...Array.from(batch, ({ log }) => log));
      }
    } finally {
      await limit(null);
    }
    await refused;
    expect(found).to.deep.equal(records.map(({ log }) => log));
    expect(await tripped()).to.be.above(before);
  });

  it('ends the search when the caller goes away', async () => {
    const indexPrefix = 'slow';
    const records = Array.from({ length: 4_000 }, (_, n) =>
      record(`${'abcdefgh '.repeat(150)}${n}`, `2026-01-15T10:00:00.${String(n).padStart(9, '0')}Z`),
    );
    await loadOpenSearch(node.url, records, { indexPrefix });
    const store = storeAt(node.url, { indexPrefix });
    const leaving = new AbortController();
    const text = { mode: 'regex', texts: ['(a|b).*(c|d).*(e|f).*(g|h).*zz'], caseSensitive: true } as const;
    const ask = () =>
      store.statistics({ ...ALL, text }, call(leaving.signal)).catch((error: unknown) => error);
    const searching = async () => {
      const tasks = await node.ask('GET', '/_tasks?actions=indices:data/read/search*&group_by=none');
      return (tasks as { tasks: unknown[] }).tasks.length;
    };
    // A node in use may have answered all of them before it is looked at.
    const isSeen = async (answers: Promise<unknown>): Promise<boolean> => {
      const answered = answers.then(() => 'answered' as const);
      for (;;) {
        const seen = await Promise.race([answered, searching()]);
        if (seen !== 0) return seen !== 'answered';
      }
    };
    let answers: Promise<unknown>;
    do answers = Promise.all(Array.from({ length: 24 }, ask));
    while (!(await isSeen(answers)));
    leaving.abort();
    await answers;
    while ((await searching()) > 0);
    await store.check(call());
  });
});
