// Tests of the conversion of raw JSON objects to cached objects.
import { expect } from 'chai';
import { Identity, ObjectReader } from '../../../../server/cache/object-reader.ts';
import { rawThing, THINGS } from '../../../support/cluster/raw-objects.ts';

const COMMON = { uid: 'u', resourceVersion: '1', checksum: 0, labels: {}, facts: undefined };

describe('Identity', () => {
  it('has a key with the namespace, and the name', () => {
    const namespaced = new Identity({ ...COMMON, namespace: 'shop', name: 'cart' });
    expect(namespaced).to.include({ key: 'shop/cart', name: 'cart', namespace: 'shop' });
    const cluster = new Identity({ ...COMMON, namespace: '', name: 'node-1' });
    expect(cluster).to.include({ key: 'node-1', name: 'node-1', namespace: '' });
  });

  it('stores the name only in the key', () => {
    expect(Object.keys(new Identity({ ...COMMON, namespace: 'shop', name: 'cart' }))).not.to.include('name');
  });
});

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

  it('has different checksums for different content of one resourceVersion', () => {
    const reader = new ObjectReader(THINGS);
    const checksum = (size: number): number => reader.read(rawThing('a', 1, size)).identity.checksum;
    expect(checksum(1)).to.equal(checksum(1)).and.not.equal(checksum(2));
  });

  it('rejects an object without a name or a resourceVersion', () => {
    const reader = new ObjectReader(THINGS);
    for (const metadata of [{ name: 'a' }, { resourceVersion: '1' }, { name: 'a', resourceVersion: 'x' }]) {
      const raw = Buffer.from(JSON.stringify({ kind: 'Thing', apiVersion: 'v1', metadata }));
      expect(() => reader.read(raw)).to.throw(SyntaxError, 'without name or resourceVersion');
    }
  });
});
