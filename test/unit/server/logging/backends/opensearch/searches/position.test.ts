import { expect } from 'chai';
import {
  digestOf,
  readPosition,
  searchAfter,
  withMoved,
  writePosition,
} from '../../../../../../../server/logging/backends/opensearch/searches/position.ts';

const POSITION = { time: 1_767_225_600_123_456_789n, sequence: 7, given: [digestOf('i', 'a')] };

describe('the position in a list of hits', () => {
  it('comes back as it was written', () => {
    expect(readPosition(writePosition(POSITION))).to.deep.equal(POSITION);
  });

  it('is refused when no store can have written it', () => {
    const given = POSITION.given[0] ?? '';
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
      `1.1.${given}"`,
      `1.1${`.${given}`.repeat(201)}`,
    ]) {
      expect(() => readPosition(text), text.slice(0, 40))
        .to.throw('cursor: is none of the log store opensearch')
        .with.property('code', 400);
    }
    expect(readPosition(`1.1${`.${given}`.repeat(200)}`).given).to.have.length(200);
  });

  it('tells documents of one id in two indices apart', () => {
    expect(digestOf('logs-2026.01.01', 'a')).not.to.equal(digestOf('logs-2026.01.02', 'a'));
  });

  it('knows a record again whose index has got another name, as long as it has not both', () => {
    const [first, copy, other] = [digestOf('logs-1', 'a'), digestOf('logs-2', 'a'), digestOf('logs-2', 'b')];
    const given = (found: readonly string[]) => withMoved({ ...POSITION, given: [first] }, found).given;
    expect(given([copy, other])).to.deep.equal([first, copy]);
    expect(given([copy, first])).to.deep.equal([first]);
    expect(given([other])).to.deep.equal([first]);
    // Two records of one id are two lines.
    expect(given([copy, digestOf('logs-3', 'a')])).to.deep.equal([first, copy]);
  });

  it('is gone on from with the hits of its very key once more', () => {
    expect(searchAfter(POSITION, 'asc', true)).to.equal('[1767225600123456789,6]');
    expect(searchAfter(POSITION, 'desc', true)).to.equal('[1767225600123456789,8]');
    expect(searchAfter(POSITION, 'desc', false)).to.equal('[1767225600123,8]');
  });
});
