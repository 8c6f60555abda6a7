// Tests of the window of a long page.
import { expect } from 'chai';
import { firstRowOf, windowAt } from '../../../../explore/list/list-window.ts';

const pageOf = (page: number, limit: number) => ({ page, limit, sortBy: 'name', ascending: true });

describe('the window of a page', () => {
  it('is the page itself, if it is short', () => {
    for (const limit of [50, 200]) {
      expect(windowAt(pageOf(3, limit), 10, 40)).to.deep.equal({ page: 3, limit });
    }
  });

  it('contains the visible rows of a long page, and few others', () => {
    const [visible, margin] = [54, 24];
    for (const shown of [pageOf(1, 1_000), pageOf(3, 1_000), pageOf(7, 10_000)]) {
      const sizes = [];
      for (let first = 0; first + visible <= shown.limit; first += 7) {
        const window = windowAt(shown, first, first + visible);
        const begin = firstRowOf(window, shown);
        sizes.push(window.limit);
        expect(begin).to.be.at.most(Math.max(0, first - margin));
        expect(begin + window.limit).to.be.at.least(Math.min(shown.limit, first + visible + margin));
      }
      expect(Math.min(...sizes)).to.be.at.least(100);
      expect(Math.max(...sizes)).to.be.below(250);
    }
  });
});
