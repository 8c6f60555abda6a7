import { expect } from 'chai';
import { Reach } from '../../../../../../../server/logging/backends/opensearch/paging/reach.ts';
import { instantOf } from '../../../../../../../server/logging/instant.ts';

const RANGE = { start: instantOf(10_000), end: instantOf(20_000) };

/** At so many nanoseconds since the epoch. */
const positionAt = (time: bigint) => ({ time, sequence: 0, given: [] });

describe('the part of a range that can hold what is sought', () => {
  it('is the range itself where there is no position', () => {
    const reach = new Reach(RANGE, 'asc', undefined);
    expect(reach.range).to.equal(RANGE);
    expect(reach.lengthMs).to.equal(10_000);
  });

  it('begins at the position, or ends a millisecond behind it, as the order goes', () => {
    const position = positionAt(12_345_678_901n);
    expect(new Reach(RANGE, 'asc', position).range).to.deep.equal({
      start: instantOf(12_345),
      end: RANGE.end,
    });
    expect(new Reach(RANGE, 'desc', position).range).to.deep.equal({
      start: RANGE.start,
      end: instantOf(12_346),
    });
  });

  it('is never wider than the range', () => {
    expect(new Reach(RANGE, 'asc', positionAt(9_000_000_000n)).range).to.deep.equal(RANGE);
    expect(new Reach(RANGE, 'desc', positionAt(21_000_000_000n)).range).to.deep.equal(RANGE);
  });

  it('has its first part where the order begins', () => {
    const [ascending, descending] = [new Reach(RANGE, 'asc', undefined), new Reach(RANGE, 'desc', undefined)];
    expect(ascending.first(1_000)).to.deep.equal({ start: RANGE.start, end: instantOf(11_000) });
    expect(descending.first(1_000)).to.deep.equal({ start: instantOf(19_000), end: RANGE.end });
    expect(ascending.first(60_000)).to.deep.equal(RANGE);
    expect(descending.first(60_000)).to.deep.equal(RANGE);
    expect([ascending.distanceTo(13_000), descending.distanceTo(13_000)]).to.deep.equal([3_000, 7_000]);
  });
});
