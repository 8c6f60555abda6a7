// Tests of the width of the buckets of a histogram.
import { expect } from 'chai';
import { intervalOf } from '../../../client/histogram-interval.ts';

describe('the interval of a histogram', () => {
  it('is round, and the shortest with which there are few buckets', () => {
    expect([60, 900, 3_600, 86_400, 604_800].map((range) => intervalOf(range, 120))).to.deep.equal([
      1, 10, 30, 1_800, 10_800,
    ]);
    expect(intervalOf(120, 120)).to.equal(1);
    expect(intervalOf(121, 120)).to.equal(2);
  });

  it('is at most ten years', () => {
    expect(intervalOf(Number.MAX_SAFE_INTEGER, 120)).to.equal(3_650 * 86_400);
  });
});
