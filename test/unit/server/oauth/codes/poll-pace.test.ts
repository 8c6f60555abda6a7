import { expect } from 'chai';
import { PollPace } from '../../../../../server/oauth/codes/poll-pace.ts';

describe('the pace of polls', () => {
  let now = 0;
  const pace = (): PollPace => new PollPace({ monotonic: () => now });

  it('is one in five seconds', () => {
    const polls = pace();
    expect(polls.tooFast('a')).to.equal(false);
    now += 5000;
    expect(polls.tooFast('a')).to.equal(false);
    now += 4000;
    expect(polls.tooFast('a')).to.equal(true);
  });

  it('is five seconds slower after each poll that came too early', () => {
    const polls = pace();
    polls.tooFast('a');
    expect(polls.tooFast('a')).to.equal(true);
    now += 9000;
    expect(polls.tooFast('a')).to.equal(true);
    now += 15_000;
    expect(polls.tooFast('a')).to.equal(false);
  });

  it('is that of each device', () => {
    const polls = pace();
    polls.tooFast('a');
    expect(polls.tooFast('b')).to.equal(false);
  });

  it('forgets the device that was quiet for longest when there are too many', () => {
    const polls = pace();
    for (let i = 0; i < 2001; i++) polls.tooFast(String(i));
    expect(polls.tooFast('0')).to.equal(false);
    expect(polls.tooFast('2000')).to.equal(true);
  });

  it('is not forgotten of a device that has asked a moment ago, however long it has been at it', () => {
    const polls = pace();
    polls.tooFast('first');
    for (let i = 0; i < 1999; i++) polls.tooFast(String(i));
    expect(polls.tooFast('first')).to.equal(true);
    polls.tooFast('one more');
    expect(polls.tooFast('first')).to.equal(true);
  });
});
