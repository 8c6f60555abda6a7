import { expect } from 'chai';
import * as fc from 'fast-check';
import { BestLines } from '../../../../../../../server/logging/backends/kubernetes/paging/best-lines.ts';
import { HeldBytes } from '../../../../../../../server/logging/backends/kubernetes/paging/held-bytes.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import { costOf } from '../../../../../../../server/logging/backends/kubernetes/reading/ranked-line.ts';

const LIMIT = 16 << 20;
const FLOOR = 64 << 10;

describe('the memory of all log queries together', () => {
  it('is never exceeded, but by what everybody may hold, whoever comes, grows and goes', () => {
    const steps = fc.array(fc.record({ who: fc.nat(11), bytes: fc.integer({ min: -LIMIT, max: LIMIT }) }), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(steps, (drawn) => {
        const budget = new MemoryBudget(LIMIT);
        const shares = Array.from({ length: 12 }, () => budget.share());
        for (const { who, bytes } of drawn) {
          const share = shares[who];
          if (!share) continue;
          expect(share.room).to.be.at.least(FLOOR);
          share.change(Math.max(-share.held, Math.min(bytes, share.room - share.held)));
          expect(budget.held).to.equal(shares.reduce((sum, { held }) => sum + held, 0));
          expect(budget.held).to.be.at.most(LIMIT + 12 * FLOOR);
        }
        for (const share of shares) share[Symbol.dispose]();
        expect(budget.held).to.equal(0);
      }),
    );
  });

  it('is shared fairly by those who want all of it, whoever was there first', () => {
    const budget = new MemoryBudget(LIMIT);
    const shares = Array.from({ length: 7 }, () => budget.share());
    for (let round = 0; round < 100; round++)
      for (const share of shares) share.change(share.room - share.held);
    for (const { held } of shares) expect(held).to.be.closeTo(LIMIT / 8, LIMIT / 100);
  });

  it('leaves a small query all that it needs beside a large one', () => {
    const budget = new MemoryBudget(LIMIT);
    const [large, small] = [budget.share(), budget.share()];
    large.change(large.room);
    expect(small.room).to.equal(LIMIT / 4);
  });

  it('counts nothing of who has gone, whatever is still under way for it', () => {
    const budget = new MemoryBudget(LIMIT);
    const share = budget.share();
    share.change(1_000);
    share[Symbol.dispose]();
    share.change(1_000);
    expect(budget.held).to.equal(0);
  });

  it('bounds the lines of many pages at once, and each of them goes on', () => {
    const budget = new MemoryBudget(1 << 20);
    const text = 'x'.repeat(2_000);
    const pages = Array.from({ length: 8 }, () => {
      const memory = new HeldBytes(budget.share());
      return new BestLines({ order: 'asc', limit: 1_000, memory, copies: true });
    });
    for (let n = 0; n < 1_000; n++) {
      for (const page of pages) page.offer(`2026-01-01T00:00:00.${String(n).padStart(9, '0')}Z`, 0, 0, text);
      expect(budget.held).to.be.at.most((1 << 20) + 8 * (FLOOR + costOf(text)));
    }
    for (const page of pages) {
      const lines = page.sorted();
      expect(page.overflowed).to.equal(true);
      // An equal part would be 28 of them.
      expect(lines.length).to.be.at.least(15);
      expect(lines.map(({ time }) => Number(time.slice(20, 29)))).to.deep.equal([...lines.keys()]);
    }
  });
});
