import { expect } from 'chai';
import * as fc from 'fast-check';
import { BestLines } from '../../../../../../server/logging/backends/kubernetes/best-lines.ts';
import {
  compareLines,
  type RankedLine,
} from '../../../../../../server/logging/backends/kubernetes/ranked-line.ts';
import { SortedRuns } from '../../../../../../server/logging/backends/kubernetes/sorted-runs.ts';

const orders = fc.constantFrom('asc', 'desc');
/** Lines of several logs with many equal times, in any order. */
const lines = fc
  .array(fc.record({ second: fc.nat(30), rank: fc.nat(4), text: fc.string({ maxLength: 300 }) }), {
    maxLength: 200,
  })
  .map((drawn) =>
    drawn.map(({ second, rank, text }, ordinal): RankedLine => {
      const time = `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z`;
      return { time, rank, ordinal, text };
    }),
  );

const inOrder = (all: readonly RankedLine[], order: 'asc' | 'desc') => {
  const sorted = all.toSorted(compareLines);
  return order === 'asc' ? sorted : sorted.reverse();
};

describe('the best lines', () => {
  it('are the first ones in the order, whatever order they come in and however they are split', () => {
    fc.assert(
      fc.property(lines, orders, fc.nat(20), fc.nat(200), (all, order, limit, split) => {
        const options = { order, limit, memory: 1 << 20 };
        const [best, other] = [new BestLines(options), new BestLines(options)];
        for (const [index, { time, rank, ordinal, text }] of all.entries()) {
          (index < split ? best : other).offer(time, rank, ordinal, text);
        }
        best.merge(other);
        expect(best.sorted()).to.deep.equal(inOrder(all, order).slice(0, limit));
        expect(best.overflowed).to.equal(false);
      }),
    );
  });

  it('are fewer when the memory is too small, but without a gap', () => {
    fc.assert(
      fc.property(lines, orders, (all, order) => {
        const best = new BestLines({ order, limit: 100, memory: 2_000 });
        for (const { time, rank, ordinal, text } of all) best.offer(time, rank, ordinal, text);
        const kept = best.sorted();
        expect(kept).to.deep.equal(inOrder(all, order).slice(0, kept.length));
        if (kept.length < Math.min(100, all.length)) expect(best.overflowed).to.equal(true);
      }),
    );
  });
});

describe('the lines of one round of an export', () => {
  it('are everything before the cut, in order', () => {
    fc.assert(
      fc.property(
        lines,
        orders,
        fc.integer({ min: 300, max: 20_000 }),
        fc.boolean(),
        (all, order, memory, copies) => {
          const runs = new SortedRuns({ order, memory, copies });
          for (const { time, rank, ordinal, text } of all) runs.offer(time, rank, ordinal, text);
          const { cut } = runs;
          const kept = [...runs.drain()];
          const expected = inOrder(all, order);
          expect(kept).to.deep.equal(expected.slice(0, kept.length));
          if (!cut) expect(kept).to.have.length(all.length);
          else expect(compareLines(cut, expected[kept.length] ?? cut)).to.equal(0);
          if (all.length > 0) expect(kept).not.to.have.length(0);
        },
      ),
    );
  });
});
