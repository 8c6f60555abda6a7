// Tests of the collection of the first n log lines.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import {
  comparePositions,
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
});
