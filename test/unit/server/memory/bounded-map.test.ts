// Tests of the map with a maximum size.
import { expect } from 'chai';
import { BoundedMap } from '../../../../server/memory/bounded-map.ts';

describe('BoundedMap', () => {
  it('evicts the entry that was set longest ago', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('c', 3);
    expect([...map]).to.deep.equal([
      ['b', 2],
      ['c', 3],
    ]);
  });

  it('moves an entry that is set again to the end, without an eviction', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3);
    expect([...map]).to.deep.equal([
      ['b', 2],
      ['a', 3],
    ]);
  });

  it('does not reorder entries at reads', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2);
    expect(map.get('a')).to.equal(1);
    expect([...map.set('c', 3).keys()]).to.deep.equal(['b', 'c']);
  });

  it('evicts an undefined key', () => {
    const map = new BoundedMap<string | undefined, number>(1);
    expect([...map.set(undefined, 1).set('a', 2).keys()]).to.deep.equal(['a']);
  });

  it('holds nothing with size 0', () => {
    expect([...new BoundedMap<string, number>(0).set('a', 1)]).to.deep.equal([]);
  });
});
