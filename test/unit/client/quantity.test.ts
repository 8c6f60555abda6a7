// Tests of quantities, also of those that no valid object has.
import { expect } from 'chai';
import { quantityOf } from '../../../client/index.ts';

describe('a quantity', () => {
  it('is a number', () => {
    expect(['3920m', '16Gi', '1e3', '-1', '5'].map(quantityOf)).to.deep.equal([
      3.92,
      16 * 2 ** 30,
      1_000,
      -1,
      5,
    ]);
  });

  it('is unknown for any other text', () => {
    for (const text of ['', '1constructor', '1toString', 'Gi', '1 Gi', '1KB', '__proto__', '1.2.3']) {
      expect(quantityOf(text), text).to.equal(undefined);
    }
  });
});
