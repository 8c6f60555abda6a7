// Tests of the selection of objects by namespace.
import { expect } from 'chai';
import { objectsIn } from '../../../../../server/resources/lists/objects-in.ts';
import { KindCache, NAMESPACES, PODS, plain } from '../../../../support/platform/kind-cache.ts';

function keys(cache: KindCache, namespaces: readonly string[] | undefined): string[] {
  return [...objectsIn(cache.snapshot(), namespaces)].flat().map(({ key }) => key);
}

describe('objectsIn', () => {
  const spaces = ['a', 'a-b', 'a.b', 'ab', 'b'];
  const all = spaces.flatMap((space) => Array.from({ length: 100 }, (_, i) => `${space}/pod-${i}`));
  const pods = new KindCache(PODS).fill(
    1,
    all.map((key, i) => plain(key, i + 1)),
  );

  it('returns all objects in the order of the snapshot', () => {
    expect(keys(pods, undefined)).to.deep.equal(all.toSorted());
  });

  it('returns the objects of each namespace, and not of others with the same prefix', () => {
    for (const space of spaces) {
      expect(keys(pods, [space]), space).to.deep.equal(
        all.filter((key) => key.startsWith(`${space}/`)).sort(),
      );
    }
    expect(keys(pods, ['b', 'a'])).to.have.length(200);
    expect(keys(pods, [])).to.deep.equal([]);
    expect(keys(pods, ['', 'c', '0'])).to.deep.equal([]);
  });

  it('returns namespaces themselves', () => {
    const namespaces = new KindCache(NAMESPACES).fill(
      1,
      spaces.map((name, i) => plain(name, i + 1)),
    );
    expect(keys(namespaces, ['a', 'b', 'gone'])).to.deep.equal(['a', 'b']);
  });
});
