// Tests of the map that callers share.
import { expect } from 'chai';
import { networkCaller } from '../../../../server/admission/network.ts';
import { SharedMap } from '../../../../server/memory/shared-map.ts';

describe('SharedMap', () => {
  it('evicts the oldest entry of the caller with the most', () => {
    const map = new SharedMap<number>(4);
    map.set('b1', 1, 'b');
    for (const i of [1, 2, 3, 4, 5]) map.set(`a${i}`, i, 'a');
    expect(['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map((key) => map.get(key))).to.deep.equal([
      undefined,
      undefined,
      3,
      4,
      5,
      1,
    ]);
    expect(map.size).to.equal(4);
  });

  it('finds the caller with the most after any changes', () => {
    const map = new SharedMap<number>(6);
    for (const i of [1, 2, 3]) map.set(`a${i}`, i, 'a');
    for (const i of [1, 2]) map.set(`b${i}`, i, 'b');
    for (const i of [1, 2]) map.delete(`a${i}`);
    for (const caller of ['c', 'd', 'e']) map.set(caller, 1, caller);
    map.set('f', 1, 'f');
    expect([map.get('b1'), map.size], 'b had the most').to.deep.equal([undefined, 6]);
    map.set('g', 1, 'g');
    expect([map.get('a3'), map.size], 'all had one, a the oldest').to.deep.equal([undefined, 6]);
  });

  it('counts the networks of a site together', () => {
    const map = new SharedMap<number>(3);
    map.set('user', 0, 'user ann');
    for (const i of [1, 2, 3, 4, 5]) map.set(`${i}`, i, networkCaller(`2001:db8:1:${i}::`));
    expect(map.get('user')).to.equal(0);
  });

  it('makes an entry the newest one, and moves it to its new caller', () => {
    const map = new SharedMap<string>(2);
    map.set('x', 'old', 'a');
    map.set('y', 'y', 'b');
    map.set('x', 'new', 'b');
    map.set('z', 'z', 'a');
    expect([map.get('x'), map.get('y'), map.get('z')]).to.deep.equal(['new', undefined, 'z']);
    for (const key of ['x', 'z', 'none']) map.delete(key);
    expect(map.size).to.equal(0);
  });
});
