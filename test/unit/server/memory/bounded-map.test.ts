import { expect } from 'chai';
import { BoundedMap } from '../../../../server/memory/bounded-map.ts';

describe('a bounded map', () => {
  it('lets the entry go that was set longest ago', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('c', 3);
    expect([...map]).to.deep.equal([
      ['b', 2],
      ['c', 3],
    ]);
  });

  it('takes an entry that is set again for the latest, and lets no other go for it', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3);
    expect([...map]).to.deep.equal([
      ['b', 2],
      ['a', 3],
    ]);
  });

  it('has no favourites among those that are only looked at', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2);
    expect(map.get('a')).to.equal(1);
    expect([...map.set('c', 3).keys()]).to.deep.equal(['b', 'c']);
  });

  it('lets a key go that is undefined', () => {
    const map = new BoundedMap<string | undefined, number>(1);
    expect([...map.set(undefined, 1).set('a', 2).keys()]).to.deep.equal(['a']);
  });

  it('holds nothing where nothing may be held', () => {
    expect([...new BoundedMap<string, number>(0).set('a', 1)]).to.deep.equal([]);
  });
});
