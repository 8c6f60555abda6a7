import { expect } from 'chai';
import { ExpiringMap } from '../../../../server/memory/expiring-map.ts';

describe('an expiring map', () => {
  let time = 0;
  const newMap = (most = 10): ExpiringMap<string, string> =>
    new ExpiringMap({ most, ttlMs: 1000, now: () => time });

  it('gives a value until its time is over', () => {
    const map = newMap();
    time = 5;
    map.set('a', 'b');
    time = 1004;
    expect(map.get('a')).to.equal('b');
    time = 1005;
    expect(map.get('a')).to.equal(undefined);
  });

  it('counts the time of a value anew when it is set again', () => {
    const map = newMap();
    time = 0;
    map.set('a', 'old');
    time = 900;
    map.set('a', 'new');
    time = 1899;
    expect(map.get('a')).to.equal('new');
  });

  it('is bounded, and forgets what it is told to', () => {
    const map = newMap(2);
    for (const key of ['a', 'b', 'c']) map.set(key, key);
    map.delete('b');
    expect(['a', 'b', 'c'].map((key) => map.get(key))).to.deep.equal([undefined, undefined, 'c']);
    expect(map.size).to.equal(1);
  });
});
