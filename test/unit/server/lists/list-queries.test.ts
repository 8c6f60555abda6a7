// Tests of the cache of decoded queries, whose memory clients could fill.
import { expect } from 'chai';
import { ListQueries } from '../../../../server/lists/list-queries.ts';
import { PODS } from '../../../../server/resources/kind.ts';
import { KindCache } from '../../../support/platform/kind-cache.ts';

/** Returns the number of queries that the cache still has, of these. */
function cached(queries: readonly string[]): number {
  const lists = new ListQueries(new KindCache(PODS));
  const read = queries.map((query) => lists.of(query));
  // The newest first: a query that is read again is added to the cache.
  const missed = queries.toReversed().findIndex((query, i) => lists.of(query) !== read.at(-1 - i));
  return missed === -1 ? queries.length : missed;
}

describe('the cache of decoded queries', () => {
  it('has the pages of a console, but few queries with long selectors', () => {
    const pages = Array.from({ length: 100 }, (_, i) => `limit=10&page=${i + 1}&sortBy=name&name=shop`);
    expect(cached(pages)).to.equal(100);
    const selectors = Array.from({ length: 100 }, (_, i) =>
      Array.from({ length: 250 }, (_, n) => `k${i * 250 + n}!=v`).join(','),
    );
    for (const parameter of ['labelSelector', 'annotation'])
      expect(cached(selectors.map((text) => `${parameter}=${text}`)), parameter).to.be.below(4);
  });
});
