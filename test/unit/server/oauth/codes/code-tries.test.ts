import { expect } from 'chai';
import { CodeTries } from '../../../../../server/oauth/codes/code-tries.ts';

describe('tries of user codes', () => {
  let now = 0;
  const tries = (): CodeTries => new CodeTries({ monotonic: () => now });

  it('may slip ten times, then have to wait', () => {
    const counted = tries();
    for (let slip = 0; slip < 9; slip++) counted.failed('192.0.2.1');
    expect(counted.wait('192.0.2.1')).to.equal(0);
    counted.failed('192.0.2.1');
    expect(counted.wait('192.0.2.1')).to.be.above(0);
    now += counted.wait('192.0.2.1') * 1000;
    expect(counted.wait('192.0.2.1')).to.equal(0);
  });

  it('slow nobody down who comes from elsewhere', () => {
    const counted = tries();
    for (let slip = 0; slip < 20; slip++) counted.failed('192.0.2.1');
    expect(counted.wait('192.0.2.2')).to.equal(0);
  });

  it('are counted together for a network of IPv6, of which a single subscriber has every address', () => {
    const counted = tries();
    for (let slip = 0; slip < 10; slip++) counted.failed(`2001:db8::${slip}`);
    expect(counted.wait('2001:db8::ffff')).to.be.above(0);
    expect(counted.wait('2001:db8:0:1::1')).to.equal(0);
  });
});
