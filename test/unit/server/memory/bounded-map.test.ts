// Tests of the map with a maximum size.
import { expect } from 'chai';
import { BoundedMap } from '../../../../server/memory/bounded-map.ts';

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
