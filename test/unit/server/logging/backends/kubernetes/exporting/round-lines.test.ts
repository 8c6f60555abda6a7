import { expect } from 'chai';
import * as fc from 'fast-check';
import { RoundLines } from '../../../../../../../server/logging/backends/kubernetes/exporting/round-lines.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import {
  compareLines,
  type Place,
  type RankedLine,
} from '../../../../../../../server/logging/backends/kubernetes/reading/ranked-line.ts';
import type { Order } from '../../../../../../../server/logging/log-store.ts';

const timeOf = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z`;

/** The lines of one log as its reader gives them: one time may come back after others. */
function logOf(rank: number, seconds: readonly number[], texts: readonly string[]): RankedLine[] {
  let ordinal = 0;
  return seconds.map((second, index) => {
    ordinal = second === seconds[index - 1] ? ordinal + 1 : 0;
    return { time: timeOf(second), rank, ordinal, text: texts[index] ?? '' };
  });
}

/** All lines, as rounds of so much memory give them. */
function inRounds(logs: readonly (readonly RankedLine[])[], order: Order, memory: number): RankedLine[] {
  const sign = order === 'asc' ? 1 : -1;
  const given: RankedLine[] = [];
  const budget = new MemoryBudget(1 << 24);
  let begin: Place | undefined;
  for (let rounds = 0; rounds < 2_000; rounds++) {
    const round = new RoundLines({ order, memory: budget.share(), most: memory, logs: logs.length });
    for (const [rank, log] of logs.entries()) {
      for (const line of log) {
        if (begin && sign * compareLines(line, begin) < 0) continue;
        round.offer(line.time, line.rank, line.ordinal, line.text);
      }
      round.close(rank);
    }
    const { cut } = round;
    given.push(...round.drain());
    round.end();
    expect(budget.held).to.equal(0);
    if (!cut) return given;
    begin = cut;
  }
  throw new Error('the rounds do not end');
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map((each) => each.toWellFormed().replaceAll('\n', '')),
  fc.integer({ min: 900, max: 6_000 }).map((length) => 'x'.repeat(length)),
);
const log = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), text), { maxLength: 40 });

describe('what a round of an export holds', () => {
  for (const order of ['asc', 'desc'] as const) {
    it(`leaves no line out and gives none twice, whatever the memory and the clocks, ${order}`, () => {
      fc.assert(
        fc.property(
          fc.array(log, { minLength: 1, maxLength: 4 }),
          fc.constantFrom(2_000, 8_000, 64_000),
          fc.boolean(),
          (written, memory, isSorted) => {
            const logs = written.map((lines, rank) => {
              const seconds = lines.map(([second]) => second);
              if (isSorted) seconds.sort((a, b) => a - b);
              return logOf(
                rank,
                seconds,
                lines.map(([, said]) => said),
              );
            });
            const given = inRounds(logs, order, memory);
            const sign = order === 'asc' ? 1 : -1;
            for (const [index, line] of given.entries()) {
              const before = given[index - 1];
              if (before) expect(sign * compareLines(before, line)).to.be.at.most(0);
            }
            const named = ({ time, rank, ordinal, text: said }: RankedLine): string =>
              [time, rank, ordinal, said].join(' ');
            expect(given.map(named).sort()).to.deep.equal(logs.flat().map(named).sort());
          },
        ),
        { numRuns: 300 },
      );
    });

    it(`is more than nothing when one time comes back again and again, ${order}`, () => {
      const seconds = Array.from({ length: 40 }, (_, index) => index % 2);
      const lines = logOf(
        0,
        seconds,
        seconds.map((_, index) => `${index} ${'x'.repeat(2_000)}`),
      );
      expect(inRounds([lines], order, 8_000)).to.have.length(40);
    });
  }
});
