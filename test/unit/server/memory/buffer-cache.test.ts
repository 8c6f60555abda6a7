// Tests of BufferCache.
import { expect } from 'chai';
import { BufferCache } from '../../../../server/memory/buffer-cache.ts';

describe('BufferCache', () => {
  it('evicts the least recently used buffers above the maximum size', () => {
    const cache = new BufferCache<string>(10);
    cache.set('a', Buffer.alloc(4));
    cache.set('b', Buffer.alloc(4));
    cache.get('a');
    cache.set('c', Buffer.alloc(4));
    expect(['a', 'b', 'c'].map((key) => cache.get(key)?.length)).to.deep.equal([4, undefined, 4]);
  });

  it('counts a replaced buffer once, and does not evict others for one above the maximum size', () => {
    const cache = new BufferCache<string>(10);
    for (let i = 0; i < 10; i++) cache.set('a', Buffer.alloc(6));
    cache.set('b', Buffer.alloc(4));
    cache.set('c', Buffer.alloc(11));
    expect(['a', 'b', 'c'].map((key) => cache.get(key)?.length)).to.deep.equal([6, 4, undefined]);
  });
});
