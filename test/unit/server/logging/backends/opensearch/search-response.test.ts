// Tests of the parser of search responses of OpenSearch.
import { expect } from 'chai';
import { readSearchResponse } from '../../../../../../server/logging/backends/opensearch/search-response.ts';

const response = (changes: object = {}): string =>
  JSON.stringify({
    timed_out: false,
    _shards: { total: 3, successful: 3 },
    hits: { total: { value: 7, relation: 'eq' }, hits: [] },
    ...changes,
  });
const read = (changes?: object) => readSearchResponse(response(changes), true);

describe('a search response', () => {
  it('has an exact total if it is complete, else a lower bound', () => {
    expect(read().total).to.deep.equal({ count: 7, relation: 'eq' });
    for (const changes of [{ timed_out: true }, { _shards: { total: 3, successful: 2 } }]) {
      const { total, shortfalls } = read(changes);
      expect(total).to.deep.equal({ count: 7, relation: 'gte' });
      expect(shortfalls).to.have.length(1);
    }
  });

  it('reports failed shards with the type of the first failure', () => {
    const failures = [{ shard: 0, reason: { type: 'query_shard_exception', reason: 'failed at 10.0.0.1' } }];
    expect(read({ _shards: { total: 3, successful: 1, failures } }).shortfalls).to.deep.equal([
      { reason: 'ShardFailed', message: '2 of 3 shards of the log store failed (query_shard_exception)' },
    ]);
  });

  it('reports skipped clusters, and fails if all clusters were skipped', () => {
    expect(read({ _clusters: { total: 2, successful: 1, skipped: 1 } }).shortfalls).to.deep.equal([
      { reason: 'ShardFailed', message: '1 of 2 clusters of the log store are unreachable' },
    ]);
    expect(() => read({ _clusters: { total: 1, successful: 0, skipped: 1 } })).to.throw('is unreachable');
    expect(read({ _clusters: { total: 1, successful: 1, skipped: 0 } }).shortfalls).to.deep.equal([]);
  });
});
