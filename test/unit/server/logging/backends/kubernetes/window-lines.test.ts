import { expect } from 'chai';
import * as fc from 'fast-check';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import {
  comparePositions,
  type LogLine,
} from '../../../../../../server/logging/backends/kubernetes/log-line.ts';
import { MemoryBudget } from '../../../../../../server/logging/backends/kubernetes/memory-budget.ts';
import { WindowLines } from '../../../../../../server/logging/backends/kubernetes/window-lines.ts';

const lines = fc
  .array(
    fc.record({
      second: fc.nat(30),
      rank: fc.nat(4),
      text: fc
        .string({ unit: 'binary', maxLength: 2_000 })
        .map((text) => text.replaceAll(/[\n\ud800-\udfff]/g, ' ')),
      ends: fc.boolean(),
    }),
    { maxLength: 200 },
  )
  .map((drawn) =>
    drawn.map(({ second, ...line }, ordinal) => {
      const time = `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z`;
      return { ...line, time, ordinal };
    }),
  );

describe('the lines of an export window', () => {
  it('are every line before the first dropped one, in order, with any text and any chunks', () =>
    fc.assert(
      fc.asyncProperty(
        lines,
        fc.constantFrom('asc', 'desc'),
        fc.integer({ min: 300, max: 200_000 }),
        async (all, order, maxBytes) => {
          const memory = new MemoryBudget(1 << 24).share();
          const window = new WindowLines({ order, memory, maxBytes });
          const sinks = [0, 1, 2, 3, 4].map((rank) => window.sinkFor(rank, undefined));
          for (const { time, rank, ordinal, text, ends } of all) {
            sinks[rank]?.onLine(time, text, ordinal);
            if (ends) sinks[rank]?.flush?.();
          }
          for (const sink of sinks) sink.flush?.();
          const { firstDropped, bytes } = window;
          expect(memory.held).to.equal(bytes);
          const kept: LogLine[] = [];
          for await (const some of window.sorted(new TimeSlicer())) kept.push(...some);
          const sorted = all
            .toSorted(comparePositions)
            .map(({ time, rank, ordinal, text }) => ({ time, rank, ordinal, text }));
          const expected = order === 'asc' ? sorted : sorted.reverse();
          expect(kept).to.deep.equal(expected.slice(0, kept.length));
          if (firstDropped)
            expect(comparePositions(firstDropped, expected[kept.length] as LogLine)).to.equal(0);
          else expect(kept).to.have.length(all.length);
          expect(kept.length).to.be.at.least(Math.min(1, all.length));
          expect(memory.held).to.equal(0);
        },
      ),
    ));

  it('use most of the memory, and need about as many bytes as their text', async () => {
    const memory = new MemoryBudget(1 << 24).share();
    const window = new WindowLines({ order: 'asc', memory, maxBytes: 200_000 });
    const sinks = [0, 1, 2].map((rank) => window.sinkFor(rank, undefined));
    let most = 0;
    for (let n = 0; n < 30_000; n++) {
      const time = new Date(Date.UTC(2026, 0, 1) + n).toISOString().replace('Z', '000000Z');
      sinks[n % 3]?.onLine(time, `level=info msg="request served" path=/api/v1/orders/${n}`, 0);
      most = Math.max(most, memory.held);
    }
    for (const sink of sinks) sink.flush?.();
    expect(most).to.be.within(190_000, 215_000);
    let length = 0;
    for await (const some of window.sorted(new TimeSlicer()))
      for (const { text } of some) length += text.length;
    expect(length).to.be.above(70_000);
  });
});
