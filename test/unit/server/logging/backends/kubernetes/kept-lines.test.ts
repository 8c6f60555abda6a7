import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { RoundLines } from '../../../../../../server/logging/backends/kubernetes/exporting/round-lines.ts';
import { BestLines } from '../../../../../../server/logging/backends/kubernetes/paging/best-lines.ts';
import { HeldBytes } from '../../../../../../server/logging/backends/kubernetes/paging/held-bytes.ts';
import { MemoryBudget } from '../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import {
  compareLines,
  type RankedLine,
} from '../../../../../../server/logging/backends/kubernetes/reading/ranked-line.ts';

import { at } from './instants.ts';

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

const roundOf = (most: number, options: { readonly order: 'asc' | 'desc'; readonly logs: number }) =>
  new RoundLines({ ...options, most, memory: new MemoryBudget(1 << 24).share() });

const inOrder = (all: readonly RankedLine[], order: 'asc' | 'desc') => {
  const sorted = all.toSorted(compareLines);
  return order === 'asc' ? sorted : sorted.reverse();
};

describe('the best lines', () => {
  it('are the first ones in the order, whatever order they come in and however they are split', () => {
    fc.assert(
      fc.property(lines, orders, fc.nat(20), fc.nat(200), (all, order, limit, split) => {
        const options = {
          order,
          limit,
          memory: new HeldBytes(new MemoryBudget(1 << 24).share()),
          copies: true,
        };
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
        const share = { held: 0, room: 2_000, change: (bytes: number) => void (share.held += bytes) };
        const best = new BestLines({ order, limit: 100, memory: new HeldBytes(share), copies: true });
        for (const { time, rank, ordinal, text } of all) best.offer(time, rank, ordinal, text);
        const kept = best.sorted();
        expect(kept).to.deep.equal(inOrder(all, order).slice(0, kept.length));
        if (kept.length < Math.min(100, all.length)) expect(best.overflowed).to.equal(true);
      }),
    );
  });
});

describe('the lines of one round of an export', () => {
  /** What a container may write: words and times that repeat, and what does not. */
  const log = fc
    .string({ unit: 'binary', maxLength: 2_000 })
    .map((text) => text.replaceAll(/[\n\ud800-\udfff]/g, ' '));
  const written = fc.array(fc.record({ second: fc.nat(30), rank: fc.nat(4), text: log }), { maxLength: 200 });

  it('are everything before the cut, in order, whatever they say', () => {
    fc.assert(
      fc.property(written, orders, fc.integer({ min: 300, max: 200_000 }), (drawn, order, memory) => {
        const all = drawn.map(({ second, rank, text }, ordinal): RankedLine => {
          const time = `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z`;
          return { time, rank, ordinal, text };
        });
        const lines = roundOf(memory, { order, logs: 5 });
        for (const { time, rank, ordinal, text } of all) lines.offer(time, rank, ordinal, text);
        for (const rank of [0, 1, 2, 3, 4]) lines.close(rank);
        const { cut } = lines;
        const kept = [...lines.drain()];
        const expected = inOrder(all, order);
        expect(kept).to.deep.equal(expected.slice(0, kept.length));
        if (!cut) expect(kept).to.have.length(all.length);
        else expect(compareLines(cut, expected[kept.length] ?? cut)).to.equal(0);
        if (all.length > 0) expect(kept).not.to.have.length(0);
      }),
    );
  });

  it('give their memory back at once, without waiting for the garbage collector', () => {
    const memory = 4 << 20;
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const look = (n: number): void => {
      if (n % 1_000 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    };
    for (const order of ['asc', 'desc', 'asc', 'desc'] as const) {
      const lines = roundOf(memory, { order, logs: 20 });
      for (let n = 0; n < 60_000; n++) {
        const time = new Date(Date.UTC(2026, 0, 1) + n).toISOString().replace('Z', '000000Z');
        lines.offer(time, n % 20, 0, `level=info msg="request served" path=/api/v1/orders/${n}`);
        look(n);
      }
      let given = 0;
      for (const _ of lines.drain()) look(given++);
      expect(given).to.equal(60_000);
    }
    expect(most).to.be.below(1.5 * memory);
  });

  for (const order of ['asc', 'desc'] as const) {
    it(`are cut where the memory ends, with most of it in use, ${order}`, () => {
      const memory = 60_000;
      const lines = roundOf(memory, { order, logs: 3 });
      let [most, least, left] = [0, memory, 0];
      for (let n = 0; n < 3_000; n++) {
        const { time } = at(order === 'asc' ? n : 3_000 - n);
        // What is random cannot be packed.
        lines.offer(time, n % 3, 0, randomBytes(75).toString('base64'));
        most = Math.max(most, lines.bytes);
        if (!lines.cut) continue;
        least = Math.min(least, lines.bytes);
        left = Math.max(left, lines.bytes);
      }
      expect(lines.cut).not.to.equal(undefined);
      expect(most).to.be.at.most(memory * 1.2);
      expect(least).to.be.at.least(memory * 0.6);
      expect(left).to.be.at.most(memory);
      for (const rank of [0, 1, 2]) lines.close(rank);
      expect(lines.bytes).to.be.at.most(memory);
      lines.end();
    });
  }

  it('take a fraction of their length, and no more than the memory, however many are offered', () => {
    const memory = 200_000;
    const lines = roundOf(memory, { order: 'asc', logs: 3 });
    let most = 0;
    for (let n = 0; n < 30_000; n++) {
      const time = new Date(Date.UTC(2026, 0, 1) + n).toISOString().replace('Z', '000000Z');
      lines.offer(time, n % 3, 0, `level=info msg="request served" path=/api/v1/orders/${n}`);
      most = Math.max(most, lines.bytes);
    }
    expect(most).to.be.at.most(memory + 50_000);
    let length = 0;
    for (const { text } of lines.drain()) length += text.length;
    expect(length).to.be.greaterThan(memory * 2);
  });
});
