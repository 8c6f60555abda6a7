// Tests of the map with a maximum size and a TTL.
import { expect } from 'chai';
import { ExpiringMap } from '../../../../server/memory/expiring-map.ts';

describe('ExpiringMap', () => {
  let time = 0;
  const newMap = (most = 10): ExpiringMap<string, string> =>
    new ExpiringMap({ most, ttlMs: 1000, now: () => time });

  it('returns a value until its TTL ends, which restarts when it is set again', () => {
    const map = newMap();
    time = 5;
    map.set('a', 'old');
    time = 900;
    map.set('a', 'b');
    time = 1899;
    expect(map.get('a')).to.equal('b');
    time = 1900;
    expect(map.get('a')).to.equal(undefined);
  });

  it('is bounded, and deletes entries', () => {
    const map = newMap(2);
    for (const key of ['a', 'b', 'c']) map.set(key, key);
    map.delete('b');
    expect(['a', 'b', 'c'].map((key) => map.get(key))).to.deep.equal([undefined, undefined, 'c']);
    expect(map.size).to.equal(1);
  });
});
