// Tests of the OpenSearch log store against a real OpenSearch node.
import { expect } from 'chai';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { unfilteredTemplate } from '../../../../../../hack/log-stores/recommended-template.ts';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { line } from '../../../../../support/logging/log-service.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { sharedNode } from './shared-node.ts';
import type { StartedNode } from './started-node.ts';

const DAY = { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
const ALL: Selection = { scope: { everything: true }, range: DAY };
const ALWAYS: Selection['range'] = {
  start: '1970-01-01T00:00:00.000000000Z',
  end: '2286-11-20T17:46:39.000000000Z',
};

describe('an OpenSearch node', () => {
  let node: StartedNode;

  before(async function () {
    node = await sharedNode(this);
  });

  it('indexes and finds lines with NUL characters', async () => {
    const indexPrefix = 'nul';
    const lines = ['abc\0d', 'h\0e\0l\0l\0o\0', '\0abc', 'a\0\0d', 'abcd'];
    const records = lines.map((log, n) => line(`2026-01-15T10:00:00.00000000${n}Z`, log));
    // Without the char_filter of the template, indexing the first one never ends.
    await loadOpenSearch(node.url, records, { indexPrefix, signal: AbortSignal.timeout(30_000) });
    const store = storeAt(node.url, { indexPrefix });
    for (const [mode, text, found] of [
      ['substring', 'c\0d', [0]],
      ['substring', '\0', [0, 1, 2, 3]],
      ['substring', 'bc', [0, 2, 4]],
      ['regex', 'a.*d', [0, 3, 4]],
      ['phrase', 'abc', [0, 2]],
    ] as const) {
      const filter = { mode, texts: [text], caseSensitive: mode !== 'phrase' } as const;
      const request = { order: 'asc', size: 10, from: 0 } as const;
      const page = await store.query({ ...ALL, text: filter }, request, call());
      const logs = page.records.map(({ log }) => log);
      expect(logs, text).to.deep.equal(found.map((n) => lines[n]));
    }
  });

  it('returns each record once if shards share times and sequence numbers, by cursor and by export', async () => {
    const indexPrefix = 'shards';
    const { template } = unfilteredTemplate(indexPrefix) as { template: { mappings: unknown } };
    await node.ask('PUT', `/_index_template/${indexPrefix}`, {
      index_patterns: [`${indexPrefix}-*`],
      priority: 200,
      template: { ...template, settings: { number_of_shards: 5, number_of_replicas: 0 } },
    });
    const time = '2026-01-15T10:00:00.123456789Z';
    const records = Array.from({ length: 100 }, (_, n) => line(time, `line ${n}`));
    await loadOpenSearch(node.url, records, { indexPrefix, template: 'dynamic' });
    const store = storeAt(node.url, { indexPrefix, pageSize: 7 });
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const request = { order, size: 7, from: 0, ...(after === undefined ? {} : { after }) };
        const page = await store.query(ALL, request, call());
        expect(page.total).to.deep.equal({ count: 100, relation: 'eq' });
        seen.push(...page.records.map(({ log }) => log));
        after = page.next;
      } while (after !== undefined);
      const whole = await exported(store.export(ALL, order, call()));
      for (const logs of [seen, whole.logs]) {
        expect(logs).to.have.length(100);
        expect(new Set(logs).size).to.equal(100);
      }
    }
  });

  it('hides lines of deleted namespaces from the callers of 1,500 recreated ones', async () => {
    const indexPrefix = 'many';
    const moment = (minute: number) =>
      new Date(Date.UTC(2026, 0, 15) + minute * 30_000).toISOString().replace('Z', '000000Z');
    const namespaces = Array.from({ length: 1_500 }, (_, n) => ({ name: `team-${n}`, since: moment(n) }));
    const records = namespaces.flatMap(({ name, since }, n) => [
      ...(n % 10 === 0 && n > 0
        ? [line(moment(n - 1), 'of the deleted namespace', { namespace: name })]
        : []),
      line(since, 'own', { namespace: name }),
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
    expect((await exported(store.export(selection, 'asc', call()))).logs).to.have.length(1_500);
  });

  it('returns the first records of a search that matches many lines, anywhere in the range', async () => {
    const indexPrefix = 'broad';
    // Nothing in the last hours, little before, and most lines within 87 ms: each range matches more than 10,000
    // lines, which one search does not sort.
    const times = Array.from({ length: 14_000 }, (_, n) =>
      n < 13_000
        ? Date.UTC(2026, 0, 15, 1) + Math.floor(n / 150)
        : Date.UTC(2026, 0, 15, 1) + (n - 13_000) * (n - 13_000) * 20,
    );
    const records = times.map((ms, n) =>
      line(`${new Date(ms).toISOString().slice(0, -1)}${String(n % 7).padStart(6, '0')}Z`, `line ${n}`),
    );
    await loadOpenSearch(node.url, records, { indexPrefix });
    const store = storeAt(node.url, { indexPrefix });
    const byTime = records.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    for (const range of [DAY, ALWAYS, { ...DAY, end: '2026-01-15T01:00:00.080000000Z' }]) {
      const within = byTime.filter(({ time }) => time < range.end);
      for (const order of ['asc', 'desc'] as const) {
        const expected = order === 'asc' ? within : within.toReversed();
        const page = (from: number, size: number, after?: string) => {
          const request = { order, size, from, ...(after === undefined ? {} : { after }) };
          return store.query({ ...ALL, range }, request, call());
        };
        const first = await page(0, 1_000);
        const second = await page(0, 1_000, first.next);
        // The last one that `from` can request.
        const last = await page(9_000, 1_000);
        const pages = [
          [0, first],
          [1_000, second],
          [700, await page(700, 10)],
          [9_000, last],
          [10_000, await page(0, 1_000, last.next)],
        ] as const;
        for (const [from, { records: found, total, shortfalls }] of pages) {
          expect(found.length, `from ${from}`).to.equal(
            Math.min(from === 700 ? 10 : 1_000, expected.length - from),
          );
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

  it('rejects invalid expressions, before the first line of a stream', async () => {
    const indexPrefix = 'patterns';
    await loadOpenSearch(node.url, [line('2026-01-15T10:00:00.000000000Z', 'a line')], { indexPrefix });
    const store = storeAt(node.url, { indexPrefix });
    for (const pattern of [
      '(',
      '[',
      '[z-a]',
      '[]',
      'a{2',
      'a{2,1}',
      '"a',
      '\\',
      '*(',
      'a{,}',
      '(a|b)*a(a|b){40}',
      ')',
    ]) {
      const selection = { ...ALL, text: { mode: 'regex', texts: [pattern], caseSensitive: true } } as const;
      for (const ask of [
        () => store.query(selection, { order: 'asc', size: 1, from: 0 }, call()),
        () => store.statistics(selection, call()),
        () => store.export(selection, 'asc', call()).next(),
        () => store.follow(selection, call()).next(),
      ]) {
        const error = await rejection(ask());
        expect(error, pattern).to.deep.include({ code: 400 });
      }
    }
  });

  it('cancels searches when the caller disconnects', async () => {
    const indexPrefix = 'slow';
    const records = Array.from({ length: 2_000 }, (_, n) =>
      line(`2026-01-15T10:00:00.${String(n).padStart(9, '0')}Z`, `${'abcdefgh '.repeat(150)}${n}`),
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
    // The node may have responded to all searches before its tasks are listed.
    const isSeen = async (running: Promise<unknown>): Promise<boolean> => {
      const finished = running.then(() => 'finished' as const);
      for (;;) {
        const seen = await Promise.race([finished, searching()]);
        if (seen !== 0) return seen !== 'finished';
      }
    };
    let running: Promise<unknown>;
    do running = Promise.all(Array.from({ length: 24 }, ask));
    while (!(await isSeen(running)));
    leaving.abort();
    await running;
    while ((await searching()) > 0);
    await store.check(call());
  });
});
