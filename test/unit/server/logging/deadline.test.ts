import { expect } from 'chai';
import { Deadline } from '../../../../server/logging/deadline.ts';

describe('the deadline of a call', () => {
  let time: number;
  let gone: AbortController;
  let deadline: Deadline;

  beforeEach(() => {
    time = 5_000;
    gone = new AbortController();
    deadline = new Deadline({ signal: gone.signal, timeoutMs: 1_000 }, () => time);
  });

  it('gives each request what is left, in whole milliseconds', () => {
    expect(deadline.call()).to.deep.equal({ signal: gone.signal, timeoutMs: 1_000 });
    time += 300.5;
    expect(deadline.call()).to.deep.equal({ signal: gone.signal, timeoutMs: 699 });
  });

  it('leaves a request some time even when it is over', () => {
    time += 999;
    expect(deadline.isOver).to.equal(false);
    time += 1;
    expect(deadline.isOver).to.equal(true);
    time += 5_000;
    expect(deadline.leftMs).to.equal(1);
  });

  it('can be sooner, never later', () => {
    time += 200;
    expect(deadline.within(100).leftMs).to.equal(100);
    expect(deadline.within(5_000).leftMs).to.equal(800);
    expect(deadline.share(0.25).leftMs).to.equal(200);
  });

  it('ends with its caller as well as with what ends it besides', () => {
    const ended = new AbortController();
    const until = deadline.until(ended.signal);
    ended.abort();
    expect([until.signal.aborted, deadline.signal.aborted]).to.deep.equal([true, false]);
    const other = deadline.until(new AbortController().signal);
    gone.abort();
    expect(other.signal.aborted).to.equal(true);
  });

  it('counts on under another signal', () => {
    time += 400;
    const { signal } = new AbortController();
    const under = deadline.under(signal);
    time += 100;
    expect(under.call()).to.deep.equal({ signal, timeoutMs: 500 });
  });
});
