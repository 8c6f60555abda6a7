// Tests of the parser of search responses of OpenSearch.
import { expect } from 'chai';
import {
  RecordReader,
  readSearchResponse,
} from '../../../../../../server/logging/backends/opensearch/search-response.ts';
import { FIELDS } from '../../../../../support/logging/opensearch-store.ts';

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

  it('keeps all digits of nanoseconds', () => {
    const text = response({
      hits: { hits: [{ _index: 'i', _id: 'a', _source: { log: '"sort":[1,2]' }, sort: ['KEY', 4] }] },
    }).replace('"KEY"', '1768471200123456789');
    expect(readSearchResponse(text, true).hits[0]?.time).to.equal(1_768_471_200_123_456_789n);
  });
});

describe('a record', () => {
  const read = (source: object) =>
    new RecordReader(FIELDS).read({ index: 'i', id: 'a', source: { ...source }, time: 0n, sequence: 0 });

  it('is read from nested objects and from names with dots', () => {
    const nested = { log: 'line\n', kubernetes: { namespace_name: 'a', pod_name: 'b', container_name: 'c' } };
    const dotted = {
      log: ['line'],
      'kubernetes.namespace_name': 'a',
      kubernetes: { pod_name: 'b' },
      'kubernetes.container_name': 'c',
    };
    const expected = {
      time: '1970-01-01T00:00:00.000000000Z',
      log: 'line',
      namespace: 'a',
      pod: 'b',
      container: 'c',
    };
    expect(read(nested)).to.deep.equal(expected);
    expect(read(dotted)).to.deep.equal(expected);
  });

  it('has each text of a list in its line, and empty names if it has none', () => {
    expect(read({ log: ['a', null, 'b'] })).to.include({ log: 'a\nb', namespace: '', pod: '' });
  });
});
