// Tests of exponential backoff.
import { expect } from 'chai';
import { Backoff } from '../../../../server/concurrency/backoff.ts';

describe('Backoff', () => {
  const waits = (backoff: Backoff, count: number): number[] =>
    Array.from({ length: count }, () => backoff.next());

  it('doubles up to the maximum, and starts again after a reset', () => {
    const backoff = new Backoff({ initialMs: 100, maxMs: 1_000, random: () => 1 - Number.EPSILON });
    const all = waits(backoff, 2_000).map(Math.round);
    expect(all.slice(0, 6)).to.deep.equal([100, 200, 400, 800, 1_000, 1_000]);
    expect(all.at(-1)).to.equal(1_000);
    backoff.reset();
    expect(Math.round(backoff.next())).to.equal(100);
  });

  it('draws between half of the bound and the bound', () => {
    const drawn = [0, 0.5, 0.75].map((random) =>
      new Backoff({ initialMs: 100, maxMs: 1_000, random: () => random }).next(),
    );
    expect(drawn).to.deep.equal([50, 75, 87.5]);
  });
});
