import { expect } from 'chai';
import { PollLimiter } from '../../../../../server/oauth/grants/device-code-grant.ts';

describe('the pace of polls', () => {
  let now = 0;
  const limiter = (): PollLimiter => new PollLimiter(() => now);

  it('is one in five seconds', () => {
    const polls = limiter();
    expect(polls.isTooFast('a')).to.equal(false);
    now += 5000;
    expect(polls.isTooFast('a')).to.equal(false);
    now += 4000;
    expect(polls.isTooFast('a')).to.equal(true);
  });

  it('is five seconds slower after each poll that came too early', () => {
    const polls = limiter();
    polls.isTooFast('a');
    expect(polls.isTooFast('a')).to.equal(true);
    now += 9000;
    expect(polls.isTooFast('a')).to.equal(true);
    now += 15_000;
    expect(polls.isTooFast('a')).to.equal(false);
  });

  it('is that of each device', () => {
    const polls = limiter();
    polls.isTooFast('a');
    expect(polls.isTooFast('b')).to.equal(false);
  });

  it('forgets the device that was quiet for longest when there are too many', () => {
    const polls = limiter();
    for (let i = 0; i < 2001; i++) polls.isTooFast(String(i));
    expect(polls.isTooFast('0')).to.equal(false);
    expect(polls.isTooFast('2000')).to.equal(true);
  });

  it('is not forgotten of a device that has asked a moment ago, however long it has been at it', () => {
    const polls = limiter();
    polls.isTooFast('first');
    for (let i = 0; i < 1999; i++) polls.isTooFast(String(i));
    expect(polls.isTooFast('first')).to.equal(true);
    polls.isTooFast('one more');
    expect(polls.isTooFast('first')).to.equal(true);
  });
});
