// Tests of the throttle for invalid user codes.
import { expect } from 'chai';
import { UserCodeThrottle } from '../../../../../../server/oauth/endpoints/browser/device.ts';

describe('the user code throttle', () => {
  let now = 0;
  const newThrottle = (): UserCodeThrottle => new UserCodeThrottle(() => now);

  it('allows ten errors, then delays', () => {
    const throttle = newThrottle();
    for (let slip = 0; slip < 9; slip++) throttle.failed('192.0.2.1');
    expect(throttle.wait('192.0.2.1')).to.equal(0);
    throttle.failed('192.0.2.1');
    expect(throttle.wait('192.0.2.1')).to.be.above(0);
    expect(throttle.wait('192.0.2.2')).to.equal(0);
    now += throttle.wait('192.0.2.1') * 1000;
    expect(throttle.wait('192.0.2.1')).to.equal(0);
  });

  it('counts a /64 network of IPv6 as one source', () => {
    const throttle = newThrottle();
    for (let slip = 0; slip < 10; slip++) throttle.failed(`2001:db8::${slip}`);
    expect(throttle.wait('2001:db8::ffff')).to.be.above(0);
    expect(throttle.wait('2001:db8:0:1::1')).to.equal(0);
  });
});
