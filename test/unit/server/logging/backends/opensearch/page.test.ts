// Tests of pages of records from OpenSearch.
import { expect } from 'chai';
import { readPosition } from '../../../../../../server/logging/backends/opensearch/page.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { call, type ScriptedRequest, SELECTION, scriptedStore, searchIn } from './scripted-store.ts';

const KEY = '1768471200123456789';

describe('pages of OpenSearch', () => {
  it('end at the result window, with a cursor for the next page', async () => {
    const lines = Array.from({ length: 10_050 }, (_, n) => ({
      id: `line-${n}`,
      key: String(BigInt(KEY) + BigInt(n)),
      sequence: n,
    }));
    await using store = await scriptedStore((request) =>
      searchIn(lines, request).replace(/"value":\d+/, `"value":${lines.length}`),
    );
    const page = { order: 'asc', size: 1_000, from: 9_000 } as const;
    const { records, next } = await storeAt(store.url).query(SELECTION, page, call());
    expect(records.map(({ log }) => log)).to.deep.equal(lines.slice(9_000, 10_000).map(({ id }) => id));
    const sorted = store.requests.filter(({ body }) => body['sort'] !== undefined);
    expect(sorted.map(({ body }) => body['size'])).to.deep.equal([1_000]);
    const rest = { order: 'asc', size: 1_000, from: 0, after: next ?? expect.fail() } as const;
    const last = await storeAt(store.url).query(SELECTION, rest, call());
    expect(last.records.map(({ log }) => log)).to.deep.equal(lines.slice(10_000).map(({ id }) => id));
    expect(last.next).to.equal(undefined);
  });
});

describe('a page of a search that matches many lines', () => {
  const lines = Array.from({ length: 100 }, (_, n) => ({
    id: `line-${n}`,
    key: String(BigInt(Date.parse('2026-01-15T23:00:00Z') + n * 1_000) * 1_000_000n),
    sequence: n,
  }));

  /** Terminates searches over more than a minute early. */
  function broad(request: ScriptedRequest): string {
    const [, start = '', end = ''] = /"gte":"([^"]+)","lt":"([^"]+)"/.exec(request.text) ?? [];
    const [from, before] = [Date.parse(start), Date.parse(end)].map((ms) => BigInt(ms) * 1_000_000n);
    const within = lines.filter(({ key }) => BigInt(key) >= (from ?? 0n) && BigInt(key) < (before ?? 0n));
    const page = searchIn(within.toReversed(), { ...request, text: '' });
    const isEarly = request.body['terminate_after'] !== undefined && within.length > 60;
    return page
      .replace(/"value":\d+/, `"value":${within.length * 1_000}`)
      .replace('{', isEarly ? '{"terminated_early":true,' : '{');
  }

  it('counts in one search, and sorts the shortest part of the range that fills the page in another', async () => {
    await using store = await scriptedStore(broad);
    const selection = { ...SELECTION, namespaces: { exact: ['web'] } };
    const page = await storeAt(store.url).query(selection, { order: 'desc', size: 10, from: 5 }, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(
      lines
        .toReversed()
        .slice(5, 15)
        .map(({ id }) => id),
    );
    expect(page.total).to.deep.equal({ count: 100_000, relation: 'eq' });
    const sorted = store.requests.filter(({ body }) => body['sort'] !== undefined);
    expect(sorted[0]?.body['terminate_after']).to.equal(10_000);
    for (const { body } of sorted.slice(1)) expect(body['track_total_hits']).to.equal(false);
  });

  it('returns a lower bound as the total if the request needs no exact total', async () => {
    await using store = await scriptedStore(broad);
    const request = { order: 'desc', size: 10, from: 0, uncounted: true } as const;
    const page = await storeAt(store.url).query(SELECTION, request, call());
    expect(page.records).to.have.length(10);
    expect(page.total.relation).to.equal('gte');
    expect(store.requests.filter(({ body }) => body['size'] === 0)).to.deep.equal([]);
  });
});

const DIGEST = 'a'.repeat(11);

describe('a page position', () => {
  it('is rejected if it is invalid', () => {
    for (const text of [
      '',
      '1',
      'x.1',
      '1.x',
      '1.-1',
      `${2n ** 63n}.1`,
      `-${2n ** 63n}.1`,
      '1.1234567890123456',
      '1.1.short',
      `1.1.${DIGEST}"`,
      `1.1${`.${DIGEST}`.repeat(201)}`,
    ]) {
      expect(() => readPosition(text), text.slice(0, 40))
        .to.throw('cursor: ')
        .with.property('code', 400);
    }
    expect(readPosition(`1.1${`.${DIGEST}`.repeat(200)}`).returned).to.have.length(200);
  });
});
