// Tests of SizedCache.
import { expect } from 'chai';
import { SizedCache } from '../../../../server/memory/sized-cache.ts';

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
