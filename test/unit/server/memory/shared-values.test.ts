// Tests of the deduplication of equal values.
import { expect } from 'chai';
import { SharedValues } from '../../../../server/memory/shared-values.ts';

describe('SharedValues', () => {
  it('return the first of equal values', () => {
    const shared = new SharedValues<readonly string[]>();
    const first = ['a'];
    expect(shared.of(first)).to.equal(first);
    expect(shared.of(['a'])).to.equal(first);
    expect(shared.of(['b'], '["a"]')).to.equal(first);
  });

  for (const [titled, unique] of [
    ['many', (i: number) => [`${i}`]],
    ['long', (i: number) => [`${i}`.padStart(1_000)]],
  ] as const) {
    it(`evict the least recently used of ${titled} values`, () => {
      const shared = new SharedValues<readonly string[]>();
      const [used, unused] = [['used'], ['unused']];
      shared.of(used);
      shared.of(unused);
      for (let i = 0; i < 20_000; i++) {
        shared.of(unique(i));
        shared.of(['used']);
      }
      expect(shared.of(['used'])).to.equal(used);
      expect(shared.of(['unused'])).not.to.equal(unused);
    });
  }

  it('do not store a value with a long key', () => {
    const shared = new SharedValues<readonly string[]>();
    const long = ['x'.repeat(2_000)];
    shared.of(long);
    const again = ['x'.repeat(2_000)];
    expect(shared.of(again)).to.equal(again);
  });
});
