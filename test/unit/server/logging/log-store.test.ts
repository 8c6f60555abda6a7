// Tests of Deadline, the time limit of a log store call with several requests.
import { expect } from 'chai';
import { Deadline } from '../../../../server/logging/log-store.ts';

describe('Deadline', () => {
  let time: number;
  let gone: AbortController;
  let deadline: Deadline;

  beforeEach(() => {
    time = 5_000;
    gone = new AbortController();
    deadline = new Deadline({ signal: gone.signal, timeoutMs: 1_000 }, () => time);
  });

  it('limits each request to the remaining time, in whole milliseconds', () => {
    expect(deadline.call()).to.deep.equal({ signal: gone.signal, timeoutMs: 1_000 });
    time += 300.5;
    expect(deadline.call()).to.deep.equal({ signal: gone.signal, timeoutMs: 699 });
  });

  it('allows 1 ms for a request after the deadline', () => {
    time += 999;
    expect(deadline.isOver).to.equal(false);
    time += 1;
    expect(deadline.isOver).to.equal(true);
    time += 5_000;
    expect(deadline.leftMs).to.equal(1);
  });

  it('can be shortened, not extended', () => {
    time += 200;
    expect(deadline.within(100).leftMs).to.equal(100);
    expect(deadline.within(5_000).leftMs).to.equal(800);
    expect(deadline.share(0.25).leftMs).to.equal(200);
  });

  it('is aborted by either of two signals', () => {
    const ended = new AbortController();
    const until = deadline.until(ended.signal);
    ended.abort();
    expect([until.signal.aborted, deadline.signal.aborted]).to.deep.equal([true, false]);
    const other = deadline.until(new AbortController().signal);
    gone.abort();
    expect(other.signal.aborted).to.equal(true);
  });
});
