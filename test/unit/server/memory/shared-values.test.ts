// Tests of the deduplication of equal values.
import { expect } from 'chai';
import { SharedValues } from '../../../../server/memory/shared-values.ts';

describe('SharedValues', () => {
  it('start again when they are full of unique values', () => {
    const shared = new SharedValues<readonly number[]>();
    const first = [-1];
    shared.json(first);
    for (let i = 0; i < 16_384; i++) shared.json([i]);
    const again = [-1];
    expect(shared.json(again)).to.equal(again);
  });

  it('start again when their keys together are long', () => {
    const shared = new SharedValues<readonly string[]>();
    const first = ['first'];
    shared.json(first);
    for (let i = 0; i < 255; i++) shared.json([`${i}`.padStart(1_000)]);
    expect(shared.json(['first'])).to.equal(first);
    for (let i = 255; i < 265; i++) shared.json([`${i}`.padStart(1_000)]);
    const again = ['first'];
    expect(shared.json(again)).to.equal(again);
  });

  it('does not store a value with a long key', () => {
    const shared = new SharedValues<readonly string[]>();
    const long = ['x'.repeat(2_000)];
    shared.json(long);
    const again = ['x'.repeat(2_000)];
    expect(shared.json(again)).to.equal(again);
  });
});
