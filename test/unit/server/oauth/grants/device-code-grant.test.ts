// Tests of the limit for polls of the device_code grant.
import { expect } from 'chai';
import { PollLimiter } from '../../../../../server/oauth/grants/device-code-grant.ts';

describe('the poll limiter', () => {
  let now = 0;
  const limiter = (): PollLimiter => new PollLimiter(() => now);

  it('allows one poll in five seconds per device, and adds five seconds after each early poll', () => {
    const polls = limiter();
    for (const device of ['a', 'b']) expect(polls.isTooFast(device)).to.equal(false);
    now += 5000;
    expect(polls.isTooFast('a')).to.equal(false);
    now += 4000;
    expect(polls.isTooFast('a')).to.equal(true);
    now += 9000;
    expect(polls.isTooFast('a')).to.equal(true);
    now += 15_000;
    expect(polls.isTooFast('a')).to.equal(false);
  });

  it('evicts the device with the oldest poll', () => {
    const polls = limiter();
    for (let i = 0; i < 2000; i++) polls.isTooFast(String(i));
    expect(polls.isTooFast('0'), 'polls again').to.equal(true);
    polls.isTooFast('one more');
    expect(polls.isTooFast('0')).to.equal(true);
    expect(polls.isTooFast('1')).to.equal(false);
  });
});
