// Tests of the medians, quantiles and alternating measurements of the bench.
import { expect } from 'chai';
import { interleaved, median, quantile } from '../../../../../hack/bench/measuring/statistics.ts';

describe('the statistics of the bench', () => {
  it('compute the median by number, not by text', () => {
    expect(median([100, 9, 20])).to.equal(20);
    expect(median([4, 1, 3, 2])).to.equal(2);
  });

  it('compute a quantile that the given share of the values does not exceed', () => {
    const values = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(quantile(values, 0.9)).to.equal(90);
    expect(quantile(values, 1)).to.equal(100);
    expect(quantile([7], 0)).to.equal(7);
  });

  it('have no value without measurements', () => {
    expect(Number.isNaN(median([]))).to.equal(true);
  });

  it('measure the sides alternately, every second round in reverse', async () => {
    const order: string[] = [];
    const side = (name: string) => (): Promise<number> => {
      order.push(name);
      return Promise.resolve(order.length);
    };
    const seen = await interleaved(3, { peer: side('peer'), ours: side('ours') });
    expect(order).to.deep.equal(['peer', 'ours', 'ours', 'peer', 'peer', 'ours']);
    expect(seen).to.deep.equal({ peer: [1, 4, 5], ours: [2, 3, 6] });
  });
});
