import { expect } from 'chai';
import { readAnswer } from '../../../../../../../server/logging/backends/opensearch/searches/search-answer.ts';
import { positionBehind } from '../../../../../../../server/logging/backends/opensearch/searches/sort-keys.ts';

const hit = (id: string, sort: readonly [number, number]) => ({ _index: 'i', _id: id, _source: {}, sort });
const answer = (changes: object = {}, hits: readonly object[] = []): string =>
  JSON.stringify({
    timed_out: false,
    _shards: { total: 3, successful: 3 },
    hits: { total: { value: 7, relation: 'eq' }, hits },
    ...changes,
  });

describe('the answer of a search', () => {
  it('has an exact total when everything was looked at, and a lower bound when not', () => {
    expect(readAnswer(answer()).total).to.deep.equal({ count: 7, relation: 'eq' });
    for (const changes of [{ timed_out: true }, { _shards: { total: 3, successful: 2 } }]) {
      const { total, shortfalls } = readAnswer(answer(changes));
      expect(total).to.deep.equal({ count: 7, relation: 'gte' });
      expect(shortfalls).to.have.length(1);
    }
  });

  it('misses what lies in clusters that were skipped, and is none where that is all of them', () => {
    const skipping = { _clusters: { total: 2, successful: 1, skipped: 1 } };
    expect(readAnswer(answer(skipping))).to.deep.include({
      total: { count: 7, relation: 'gte' },
      shortfalls: [{ reason: 'ShardFailed', message: '1 of 2 clusters of the log store are away' }],
    });
    const away = { _clusters: { total: 1, successful: 0, skipped: 1 } };
    expect(() => readAnswer(answer(away))).to.throw('the cluster is away');
    const there = { _clusters: { total: 1, successful: 1, skipped: 0 } };
    expect(readAnswer(answer(there)).shortfalls).to.deep.equal([]);
  });

  it('ends at a position that names all that were given of its sort key, on the page before too', () => {
    const first = readAnswer(answer({}, [hit('a', [1, 4]), hit('b', [2, 5]), hit('c', [2, 5])]));
    const behind = positionBehind(first, 2, false, undefined);
    expect(behind).to.include({ time: 2_000_000n, sequence: 5 });
    expect(behind.given).to.have.length(2);
    const second = readAnswer(answer({}, [hit('d', [2, 5])]));
    expect(positionBehind(second, 0, false, behind).given)
      .to.have.length(3)
      .and.include.members([...behind.given]);
    const later = readAnswer(answer({}, [hit('d', [2, 6])]));
    expect(positionBehind(later, 0, false, behind).given).to.have.length(1);
    const other = readAnswer(answer({}, [hit('e', [2, 4]), hit('f', [2, 5])]));
    expect(positionBehind(other, 1, false, undefined).given).to.have.length(1);
  });
});
