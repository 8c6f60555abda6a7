// Tests of the rate limit by key.
import { expect } from 'chai';
import { RateLimit } from '../../../../../server/oauth/throttle/rate-limit.ts';

describe('the rate limit', () => {
  let now: number;
  let limit: RateLimit;
  beforeEach(() => {
    now = 0;
    limit = new RateLimit({ burst: 2, perSecond: 0.5, keys: 2, monotonic: () => now });
  });

  it('allows a burst for each key, then the rate, whatever was refused meanwhile', () => {
    const take = (): readonly boolean[] => ['a', 'b'].map((key) => limit.take(key));
    expect([take(), take(), take()]).to.deep.equal([
      [true, true],
      [true, true],
      [false, false],
    ]);
    now += 1000;
    expect(take()).to.deep.equal([false, false]);
    now += 1000;
    expect([take(), take()]).to.deep.equal([
      [true, true],
      [false, false],
    ]);
    now += 3_600_000;
    expect(
      [1, 2, 3].map(() => limit.take('a')),
      'no more than a burst',
    ).to.deep.equal([true, true, false]);
  });

  it('drops the key that was used longest ago when there are too many', () => {
    for (const key of ['a', 'b', 'a', 'b', 'a', 'c']) limit.take(key);
    expect(limit.take('a')).to.equal(false);
  });
});
