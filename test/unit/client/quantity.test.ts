// Tests of quantities, also of those that no valid object has.
import { expect } from 'chai';
import { amountText, bytesText, quantityOf } from '../../../client/index.ts';

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

  it('is read in linear time', () => {
    expect(quantityOf(`${'1'.repeat(1_000_000)}!`)).to.equal(undefined);
  });

  it('is shown with one decimal place if it is small', () => {
    expect([0, 0.25, 3.92, 10.4, 1_234].map(amountText)).to.deep.equal(['0', '0.3', '3.9', '10', '1,234']);
    expect([0, 1, 1_023, 1_536, 16 * 2 ** 30].map(bytesText)).to.deep.equal([
      '0 B',
      '1 B',
      '1,023 B',
      '1.5 KiB',
      '16 GiB',
    ]);
  });
});
