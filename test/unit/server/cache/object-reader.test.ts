// Tests of the conversion of raw JSON objects to cached objects.
import { expect } from 'chai';
import { ObjectReader } from '../../../../server/cache/object-reader.ts';
import { rawThing, THINGS } from '../../../support/cluster/raw-objects.ts';

describe('ObjectReader', () => {
  it('shares the labels of objects with equal labels', () => {
    const reader = new ObjectReader(THINGS);
    const [first, second, other] = [rawThing('a', 1), rawThing('a', 2), rawThing('b', 3)].map(
      (raw) => reader.read(raw).identity.labels,
    );
    expect(first).to.deep.equal({ of: 'a' });
    expect(second).to.equal(first);
    expect(other).to.deep.equal({ of: 'b' });
  });

  it('rejects an object without a name or a resourceVersion', () => {
    const reader = new ObjectReader(THINGS);
    for (const metadata of [{ name: 'a' }, { resourceVersion: '1' }, { name: 'a', resourceVersion: 'x' }]) {
      const raw = Buffer.from(JSON.stringify({ kind: 'Thing', apiVersion: 'v1', metadata }));
      expect(() => reader.read(raw)).to.throw(SyntaxError, 'without name or resourceVersion');
    }
  });
});
