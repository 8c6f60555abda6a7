// Tests of the merge sort that yields to the event loop.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { mergeSort } from '../../../../server/concurrency/merge-sort.ts';
import { TimeSlicer } from '../../../../server/concurrency/time-slicer.ts';
import { WorkPerTurn } from '../../../support/work-per-turn.ts';

describe('mergeSort', () => {
  it('sorts stably', async () => {
    const item = fc.record({ key: fc.integer({ min: 0, max: 500 }), place: fc.integer() });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 5_000, size: 'max' }), async (items) => {
        const compare = (left: { key: number }, right: { key: number }) => left.key - right.key;
        expect(await mergeSort(items, compare, new TimeSlicer())).to.deep.equal(items.toSorted(compare));
      }),
      { numRuns: 8 },
    );
  });

  it('yields to the event loop', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 20_000);
    const work = new WorkPerTurn();
    const sorted = await mergeSort(
      items,
      (left, right) => {
        work.note();
        return left - right;
      },
      new TimeSlicer(0),
    );
    expect(sorted).to.deep.equal([...items.keys()]);
    // The whole sort needs more than 200,000 comparisons.
    expect(work.most).to.be.below(20_000);
  });
});
