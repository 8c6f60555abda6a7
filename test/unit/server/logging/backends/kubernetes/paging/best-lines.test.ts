import { expect } from 'chai';
import {
  BestLines,
  type BestLinesOptions,
} from '../../../../../../../server/logging/backends/kubernetes/paging/best-lines.ts';
import { HeldBytes } from '../../../../../../../server/logging/backends/kubernetes/paging/held-bytes.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import { at } from '../instants.ts';

const newBest = (limit: number, more: Partial<BestLinesOptions> = {}): BestLines => {
  const memory = new HeldBytes(new MemoryBudget(1 << 24).share());
  return new BestLines({ order: 'asc', limit, memory, copies: true, ...more });
};
const secondsOf = (best: BestLines): number[] => best.sorted().map(({ ordinal }) => ordinal);
/** The ordinal of a line is its second. */
const offer = (best: BestLines, second: number, text = ''): void =>
  best.offer(at(second).time, 0, second, text);

describe('the lines that a page keeps', () => {
  it('are the first of two logs of which one has let go of lines, however few the other one has', () => {
    const [best, other] = [newBest(10), newBest(10)];
    for (let second = 1_000; second < 2_000; second++) offer(best, second);
    expect(best.refused).not.to.equal(undefined);
    // The last of them first: none behind it may be taken for one that is too late as well.
    for (const second of [5_000, 1, 1_005, 3]) offer(other, second);
    best.merge(other);
    expect(secondsOf(best)).to.deep.equal([1, 3, 1_000, 1_001, 1_002, 1_003, 1_004, 1_005, 1_005, 1_006]);
  });

  it('tell the first line that was let go, also of those of another log', () => {
    const [best, other] = [newBest(2), newBest(2)];
    for (const second of [1, 2, 9]) offer(best, second);
    for (const second of [3, 4, 5]) offer(other, second);
    best.merge(other);
    expect(secondsOf(best)).to.deep.equal([1, 2]);
    expect(best.refused).to.deep.equal({ time: at(3).time, rank: 0, ordinal: 3 });
  });

  it('have no gap where another log had to let go of lines for want of memory', () => {
    const share = { held: 0, room: 3_000, change: (bytes: number) => void (share.held += bytes) };
    const memory = new HeldBytes(share);
    const [best, other] = [newBest(10, { memory }), newBest(10, { memory })];
    for (const second of [1, 2, 3]) offer(other, second, 'x'.repeat(1_000));
    best.merge(other);
    offer(best, 9);
    expect(secondsOf(best)).to.deep.equal([1]);
    expect(best.overflowed).to.equal(true);
  });

  it('are bounded while they come, not only when they are asked for', () => {
    const share = { held: 0, room: 10_000, change: (bytes: number) => void (share.held += bytes) };
    const best = newBest(1_000, { memory: new HeldBytes(share) });
    let most = 0;
    for (let second = 1_000; second > 0; second--) {
      offer(best, second, 'x'.repeat(100));
      most = Math.max(most, share.held);
    }
    expect(most).to.be.at.most(share.room);
    expect(best.overflowed).to.equal(true);
    const kept = secondsOf(best);
    expect(kept).to.deep.equal(Array.from({ length: kept.length }, (_, n) => n + 1));
    best.drop();
    expect(share.held).to.equal(0);
  });

  it('are none where none are wanted', () => {
    const best = newBest(0);
    offer(best, 1);
    expect(secondsOf(best)).to.deep.equal([]);
  });
});
