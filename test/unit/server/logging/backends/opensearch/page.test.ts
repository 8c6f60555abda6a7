// Tests of pages of records from OpenSearch.
import { expect } from 'chai';
import { readPosition } from '../../../../../../server/logging/backends/opensearch/page.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { call, SELECTION, scriptedStore, searchIn } from './scripted-store.ts';

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
