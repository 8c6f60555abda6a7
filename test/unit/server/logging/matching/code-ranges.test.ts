import { expect } from 'chai';
import {
  complement,
  joined,
  type Range,
  withoutOverlaps,
} from '../../../../../server/logging/matching/code-ranges.ts';

const RANGES: readonly Range[] = [
  [5, 9],
  [1, 3],
  [4, 4],
  [6, 7],
  [8, 12],
  [1, 3],
];

describe('ranges of characters', () => {
  it('are given once each, in order', () => {
    expect(withoutOverlaps(RANGES)).to.deep.equal([
      [1, 3],
      [4, 4],
      [5, 12],
    ]);
  });

  it('are joined where they touch', () => {
    expect(joined(RANGES)).to.deep.equal([[1, 12]]);
    expect(
      joined([
        [7, 7],
        [9, 9],
      ]),
    ).to.deep.equal([
      [7, 7],
      [9, 9],
    ]);
  });

  it('leave out everything else', () => {
    expect(
      complement([
        [0, 3],
        [5, 9],
      ]),
    ).to.deep.equal([
      [4, 4],
      [10, 0x10ffff],
    ]);
    expect(complement([])).to.deep.equal([[0, 0x10ffff]]);
    expect(complement([[0, 0x10ffff]])).to.deep.equal([]);
  });
});
