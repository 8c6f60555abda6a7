// Tests of the merge sort that yields to the event loop.
import { expect } from 'chai';
import { mergeSort } from '../../../../server/concurrency/merge-sort.ts';
import { TimeSlicer } from '../../../../server/concurrency/time-slicer.ts';
import { WorkPerTurn } from '../../../support/work-per-turn.ts';

describe('mergeSort', () => {
  it('yields to the event loop', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 20_000);
    const work = new WorkPerTurn();
    const sorted = await mergeSort(
      items,
      (left, right) => {
        work.note();
        return left - right;
      },
      new TimeSlicer(0).of({}),
    );
    expect(sorted).to.deep.equal([...items.keys()]);
    // The whole sort needs more than 200,000 comparisons.
    expect(work.most).to.be.below(20_000);
  });
});
