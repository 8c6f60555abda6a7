// Tests of the collection of the first n log lines.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import {
  comparePositions,
  costOf,
  type LogLine,
} from '../../../../../../server/logging/backends/kubernetes/log-line.ts';
import { MemoryBudget } from '../../../../../../server/logging/backends/kubernetes/memory-budget.ts';
import {
  TopLines,
  type TopLinesOptions,
} from '../../../../../../server/logging/backends/kubernetes/top-lines.ts';

const orders = fc.constantFrom('asc', 'desc');
/** Lines of several logs, in any order, with many equal times. */
const lines = fc
  .array(
    fc.record({
      second: fc.nat(30),
      rank: fc.nat(4),
      text: fc.string({ maxLength: 300 }).map((text) => text.repeat(4)),
    }),
    {
      maxLength: 200,
    },
  )
  .map((drawn) =>
    drawn.map(({ second, rank, text }, ordinal): LogLine => {
      const time = `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z`;
      return { time, rank, ordinal, text };
    }),
  );

function inOrder(all: readonly LogLine[], order: 'asc' | 'desc'): LogLine[] {
  const sorted = all.toSorted(comparePositions);
  return order === 'asc' ? sorted : sorted.reverse();
}

function plain(lines: readonly LogLine[]): LogLine[] {
  return lines.map(({ time, rank, ordinal, text }) => ({ time, rank, ordinal, text }));
}

function topOf(all: readonly LogLine[], options: Partial<TopLinesOptions>): TopLines {
  const memory = new MemoryBudget(1 << 24).share();
  const top = new TopLines({ order: 'asc', limit: 100, memory, ...options });
  for (const { time, rank, ordinal, text } of all) top.offer(time, rank, ordinal, text);
  return top;
}

describe('the top lines', () => {
  it('are the first lines in the requested order', () =>
    fc.assert(
      fc.asyncProperty(lines, orders, fc.nat(20), async (all, order, limit) => {
        const top = topOf(all, { order, limit });
        const isFull = limit > 0 && all.length > limit;
        expect(top.isFull).to.equal(isFull);
        expect(plain(await top.sorted(new TimeSlicer()))).to.deep.equal(inOrder(all, order).slice(0, limit));
        expect(top.outOfMemory).to.equal(false);
        if (isFull) expect(top.firstDropped).to.include({ ordinal: inOrder(all, order)[limit]?.ordinal });
      }),
    ));

  it('are fewer, but at least one and without a gap, when the memory is used up', () =>
    fc.assert(
      fc.asyncProperty(lines, orders, fc.integer({ min: 1, max: 200_000 }), async (all, order, room) => {
        const memory = new MemoryBudget(room).share();
        const top = topOf(all, { order, limit: Number.POSITIVE_INFINITY, memory });
        const kept = plain(await top.sorted(new TimeSlicer()));
        const expected = inOrder(all, order);
        expect(kept).to.deep.equal(expected.slice(0, kept.length));
        expect(top.outOfMemory).to.equal(kept.length < all.length);
        if (top.firstDropped)
          expect(comparePositions(top.firstDropped, expected[kept.length] as LogLine)).to.equal(0);
        expect(kept.length).to.be.at.least(Math.min(1, all.length));
      }),
    ));

  it('use most of the memory', () => {
    for (const order of ['asc', 'desc'] as const) {
      const share = new MemoryBudget(100_000).share();
      const top = new TopLines({ order, limit: 1_000, memory: share });
      let [most, least] = [0, Number.POSITIVE_INFINITY];
      for (let n = 0; n < 2_000; n++) {
        const time = new Date(Date.UTC(2026, 0, 1) + n).toISOString().replace('Z', '000000Z');
        top.offer(time, n % 3, 0, 'x'.repeat(100));
        most = Math.max(most, share.held);
        if (top.outOfMemory) least = Math.min(least, share.held);
      }
      expect(most).to.be.within(60_000, 66_000);
      expect(least).to.be.at.least(40_000);
    }
  });

  it('of many pages at once stay within the budget, and each page progresses', async () => {
    const budget = new MemoryBudget(1 << 20);
    const text = 'x'.repeat(2_000);
    const pages = Array.from({ length: 8 }, () => topOf([], { limit: 1_000, memory: budget.share() }));
    for (let n = 0; n < 1_000; n++) {
      for (const page of pages) page.offer(`2026-01-01T00:00:00.${String(n).padStart(9, '0')}Z`, 0, 0, text);
      expect(budget.held).to.be.at.most((1 << 20) + 8 * ((64 << 10) + costOf(text)));
    }
    for (const page of pages) {
      const kept = await page.sorted(new TimeSlicer());
      expect(page.outOfMemory).to.equal(true);
      expect(kept.length).to.be.at.least(15);
      expect(kept.map(({ time }) => Number(time.slice(20, 29)))).to.deep.equal([...kept.keys()]);
    }
  });
});
