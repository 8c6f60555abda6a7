// Tests of AbortSignals with a timeout.
import { getEventListeners, once } from 'node:events';
import { expect } from 'chai';
import { boundedSignal } from '../../../../server/concurrency/bounded-signal.ts';

describe('boundedSignal', () => {
  it('aborts with the outer signal and its reason', () => {
    const outer = new AbortController();
    using bounded = boundedSignal(outer.signal, 60_000);
    expect(bounded.signal.aborted).to.equal(false);
    outer.abort('gone');
    using late = boundedSignal(AbortSignal.abort('gone'), 60_000);
    for (const { signal, isLate } of [bounded, late]) {
      expect([signal.reason, isLate]).to.deep.equal(['gone', false]);
    }
  });

  it('is late after its timeout', async () => {
    const outer = new AbortController();
    using bounded = boundedSignal(outer.signal, 1);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    bounded.signal.addEventListener('abort', resolve);
    // Its timer alone keeps no process running.
    const running = setInterval(() => undefined, 1_000);
    await promise;
    clearInterval(running);
    outer.abort();
    expect([bounded.isLate, Reflect.get(Object(bounded.signal.reason), 'name')]).to.deep.equal([
      true,
      'TimeoutError',
    ]);
  });

  it('is not late when the outer signal aborts first', async () => {
    const outer = new AbortController();
    using bounded = boundedSignal(outer.signal, 1);
    using endless = boundedSignal(new AbortController().signal, 2 ** 31 + 1_000);
    outer.abort('gone');
    // Timers of the same length run in the order they were set.
    using later = boundedSignal(new AbortController().signal, 1);
    const running = setInterval(() => undefined, 1_000);
    await once(later.signal, 'abort');
    clearInterval(running);
    expect(bounded.isLate).to.equal(false);
    expect(endless.signal.aborted, 'beyond the maximum of a timer').to.equal(false);
  });

  it('removes its listener and timer when disposed of', () => {
    const outer = new AbortController();
    const bounded = boundedSignal(outer.signal, 60_000);
    expect(getEventListeners(outer.signal, 'abort')).to.have.length(1);
    bounded[Symbol.dispose]();
    expect(getEventListeners(outer.signal, 'abort')).to.have.length(0);
  });
});
