import { expect } from 'chai';
import * as fc from 'fast-check';
import { sortedInTurns } from '../../../../server/concurrency/merge-sort.ts';
import { Turns } from '../../../../server/concurrency/turns.ts';
import { WorkPerTurn } from '../../../support/work-per-turn.ts';

describe('sorting in turns', () => {
  it('puts all in order, and leaves what is equal as it was', async () => {
    const item = fc.record({ key: fc.integer({ min: 0, max: 500 }), place: fc.integer() });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 5_000, size: 'max' }), async (items) => {
        const compare = (left: { key: number }, right: { key: number }) => left.key - right.key;
        expect(await sortedInTurns(items, compare, new Turns())).to.deep.equal(items.toSorted(compare));
      }),
      { numRuns: 20 },
    );
  });

  it('lets everything else run long before it has done', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 20_000);
    const work = new WorkPerTurn();
    const sorted = await sortedInTurns(
      items,
      (left, right) => {
        work.note();
        return left - right;
      },
      new Turns(0),
    );
    expect(sorted).to.deep.equal([...items.keys()]);
    // Of more than 200,000.
    expect(work.most).to.be.below(20_000);
  });
});
