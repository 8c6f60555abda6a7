// Tests of the immutable sorted lists in chunks.
import { expect } from 'chai';
import { array, assert, boolean, integer, property, tuple } from 'fast-check';
import { ObjectList } from '../../../../../server/resources/lists/object-list.ts';

const ascending = (left: number, right: number): number => left - right;

describe('ObjectList', () => {
  it('has the objects of a sorted array after each change, also across its chunks', () => {
    const change = tuple(boolean(), integer({ min: 0, max: 3_000 }));
    assert(
      property(integer({ min: 0, max: 1_600 }), array(change, { maxLength: 200 }), (length, changes) => {
        let expected = Array.from({ length }, (_, i) => i);
        let list = ObjectList.of(expected);
        for (const [isAdded, value] of changes) {
          if (isAdded && expected.includes(value)) continue;
          list = isAdded ? list.with(value, ascending) : list.without(value, ascending);
          expected = isAdded
            ? [...expected, value].sort(ascending)
            : expected.filter((other) => other !== value);
          expect(list.length).to.equal(expected.length);
        }
        expect([...list]).to.deep.equal(expected);
        for (const [first, last] of [
          [0, length],
          [500, 530],
          [length - 10, length + 10],
          [9_000, 9_010],
        ] as const) {
          expect(list.slice(Math.max(0, first), last)).to.deep.equal(
            expected.slice(Math.max(0, first), last),
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('does not change when another list is made of it', () => {
    const list = ObjectList.of([1, 3]);
    const more = list.with(2, ascending);
    const less = more.without(1, ascending);
    expect([[...list], [...more], [...less]]).to.deep.equal([
      [1, 3],
      [1, 2, 3],
      [2, 3],
    ]);
  });

  it('compares few objects for a change of a long list', () => {
    const list = ObjectList.of(Array.from({ length: 100_000 }, (_, i) => 2 * i));
    let count = 0;
    const counting = (left: number, right: number): number => {
      count++;
      return left - right;
    };
    list.with(77_777, counting).without(100, counting);
    expect(count).to.be.below(40);
  });
});
