// Tests of OpenExchanges, the collection of open requests.
import { expect } from 'chai';
import { array, assert, boolean, nat, property, record } from 'fast-check';
import { OpenExchanges } from '../../../../server/filters/exchange.ts';

interface Numbered {
  readonly number: number;
  place: number;
}

describe('OpenExchanges', () => {
  it('contains the added and not deleted items, in any order', () => {
    const steps = array(record({ isAdded: boolean(), number: nat(9) }));
    assert(
      property(steps, (taken) => {
        const all = Array.from({ length: 10 }, (_, number): Numbered => ({ number, place: -1 }));
        const open = new OpenExchanges<Numbered>();
        const expected = new Set<Numbered>();
        for (const { isAdded, number } of taken) {
          const one = all[number] ?? expect.fail();
          if (!isAdded) open.delete(one);
          else if (!expected.has(one)) open.add(one);
          if (isAdded) expected.add(one);
          else expected.delete(one);
          expect(open.size).to.equal(expected.size);
          expect(open.all()).to.have.members([...expected]);
        }
      }),
    );
  });
});
