// Tests of Freshness, the age of the data of a reflector.
import { expect } from 'chai';
import { Freshness } from '../../../../../server/cluster/reflector/freshness.ts';

describe('Freshness', () => {
  let clock: number;
  let freshness: Freshness;

  beforeEach(() => {
    clock = 0;
    freshness = new Freshness(() => clock);
  });

  it('is interrupted from the failure of a watch until the next proof', () => {
    for (const proof of ['progressed', 'watchBegan'] as const) {
      freshness.watchEnded('error');
      expect(freshness.interrupted).to.equal(true);
      freshness[proof]();
      freshness.watchEnded('end');
      expect(freshness.interrupted).to.equal(false);
    }
  });

  for (const cause of ['expired', 'backwards', 'stalled', 'error']) {
    it(`ignores the headers of a watch that ended as ${cause}, because the sink may have missed events`, () => {
      freshness.progressed();
      clock = 100;
      freshness.watchBegan();
      freshness.watchEnded(cause);
      expect(freshness.within(99)).to.equal(false);
      expect(freshness.within(100)).to.equal(true);
    });
  }
});
