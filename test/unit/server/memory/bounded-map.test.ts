// Tests of the maps with a maximum size or memory.
import { expect } from 'chai';
import { BoundedMap, SizedCache } from '../../../../server/memory/bounded-map.ts';

describe('BoundedMap', () => {
  it('evicts the entry that was set longest ago, regardless of reads', () => {
    const map = new BoundedMap<string | undefined, number>(2);
    map.set(undefined, 1).set('b', 2);
    expect(map.get(undefined)).to.equal(1);
    expect([...map.set('c', 3)]).to.deep.equal([
      ['b', 2],
      ['c', 3],
    ]);
    expect([...map.set('b', 4).keys()], 'set again').to.deep.equal(['c', 'b']);
    expect([...new BoundedMap<string, number>(0).set('a', 1)]).to.deep.equal([]);
  });
});

describe('SizedCache', () => {
  it('evicts the least recently used buffers above the maximum size', () => {
    const cache = new SizedCache<string, Buffer>(10, ({ length }) => length);
    cache.set('a', Buffer.alloc(4));
    cache.set('b', Buffer.alloc(4));
    cache.get('a');
    cache.set('c', Buffer.alloc(4));
    expect(['a', 'b', 'c'].map((key) => cache.get(key)?.length)).to.deep.equal([4, undefined, 4]);
  });

  it('counts a replaced buffer once, and does not evict others for one above the maximum size', () => {
    const cache = new SizedCache<string, Buffer>(10, ({ length }) => length);
    for (let i = 0; i < 10; i++) cache.set('a', Buffer.alloc(6));
    cache.set('b', Buffer.alloc(4));
    cache.set('c', Buffer.alloc(11));
    expect(['a', 'b', 'c'].map((key) => cache.get(key)?.length)).to.deep.equal([6, 4, undefined]);
  });
});
