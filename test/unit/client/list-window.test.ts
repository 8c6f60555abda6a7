// Tests of the window of a table with virtual rows.
import { expect } from 'chai';
import { windowOf } from '../../../client/list-window.ts';

describe('the window of a list', () => {
  it('contains the objects, and few others', () => {
    const limits = [];
    for (let first = 0; first < 100_000; first += 37) {
      const { page, limit } = windowOf(first, first + 102);
      limits.push(limit);
      expect((page - 1) * limit).to.be.at.most(first);
      expect(page * limit).to.be.at.least(first + 102);
    }
    expect(Math.min(...limits)).to.be.at.least(102);
    expect(Math.max(...limits)).to.be.below(250);
  });

  it('has a minimum', () => {
    expect(windowOf(0, 10)).to.deep.equal({ page: 1, limit: 100 });
    expect(windowOf(20, 30, 10)).to.deep.equal({ page: 3, limit: 10 });
    expect(windowOf(5, 5, 0)).to.deep.equal({ page: 6, limit: 1 });
  });
});
