import { expect } from 'chai';
import {
  newHits,
  positionBehind,
  readPosition,
  searchAfter,
  writePosition,
} from '../../../../../../server/logging/backends/opensearch/page-position.ts';
import type { Hit } from '../../../../../../server/logging/backends/opensearch/search-response.ts';

const hit = (id: string, time: bigint, sequence: number, index = 'logs'): Hit => ({
  index,
  id,
  source: {},
  time,
  sequence,
});
const DIGEST = 'a'.repeat(11);
const POSITION = { time: 1_767_225_600_123_456_789n, sequence: 7, returned: [DIGEST] };

describe('a page position', () => {
  it('survives a round trip through a cursor', () => {
    expect(readPosition(writePosition(POSITION))).to.deep.equal(POSITION);
  });

  it('is rejected if the store cannot have written it', () => {
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

  it('continues with the hits of its own sort key', () => {
    expect(searchAfter(POSITION, 'asc', true)).to.equal('[1767225600123456789,6]');
    expect(searchAfter(POSITION, 'desc', true)).to.equal('[1767225600123456789,8]');
    expect(searchAfter(POSITION, 'desc', false)).to.equal('[1767225600123,8]');
  });

  it('contains all returned hits of its sort key, also those of the page before', () => {
    const [a, b, c] = [hit('a', 1n, 4), hit('b', 2n, 5), hit('c', 2n, 5)];
    const first = positionBehind([a, b, c], c, undefined);
    expect(first).to.include({ time: 2n, sequence: 5 });
    expect(first.returned).to.have.length(2);
    const d = hit('d', 2n, 5);
    const second = positionBehind([b, c, d], d, first);
    expect(second.returned).to.have.length(3);
    expect(newHits([b, c, d, hit('e', 2n, 5)], second).map(({ id }) => id)).to.deep.equal(['e']);
    const next = hit('f', 2n, 6);
    expect(positionBehind([next], next, second).returned).to.have.length(1);
  });

  it('recognizes a record whose index was cloned or shrunk', () => {
    const last = hit('a', 1n, 1, 'logs-1');
    const position = positionBehind([last], last, undefined);
    expect(newHits([hit('a', 1n, 1, 'logs-1-shrunk')], position)).to.deep.equal([]);
  });
});
