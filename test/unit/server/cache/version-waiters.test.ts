// Tests of the queue of reads that wait for a resourceVersion.
import { getEventListeners, once } from 'node:events';
import { expect } from 'chai';
import { VersionWaiters, type WaitOptions } from '../../../../server/cache/version-waiters.ts';
import { FakeTimers } from '../../../support/fake-timers.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';

/** A probe that does not end by itself. */
async function hanging(signal: AbortSignal): Promise<void> {
  await once(signal, 'abort');
}

function waiters(options: Partial<WaitOptions>): VersionWaiters {
  const times = { timeoutMs: 8_000, probeDelayMs: 5, retryMs: 4_000 };
  return new VersionWaiters({
    ...times,
    probe: (_, signal) => hanging(signal),
    current: () => 10n,
    ...options,
  });
}

const never = new AbortController().signal;

describe('VersionWaiters', () => {
  it('shares one slow probe', async () => {
    let probes = 0;
    const waiting = waiters({
      probe: (_, signal) => {
        probes++;
        return hanging(signal);
      },
    });
    const all = Promise.all(Array.from({ length: 50 }, () => waiting.wait(20n, never)));
    await until(() => probes > 0);
    waiting.reached(20n);
    await all;
    expect(probes).to.equal(1);
  });

  it('rejects with the reason of the signal, and leaves no listener on it', async () => {
    const waiting = waiters({});
    const gone = AbortSignal.abort(new Error('gone'));
    expect(await rejection(waiting.wait(20n, gone))).to.have.property('message', 'gone');
    const { signal } = new AbortController();
    const waited = waiting.wait(20n, signal);
    waiting.reached(20n);
    await waited;
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('is not delayed by a version that is never reached', async () => {
    const probing = Promise.withResolvers<void>();
    const waiting = waiters({
      probe: (version, signal) => {
        if (version === 20n) waiting.reached(20n);
        else probing.resolve();
        return hanging(signal);
      },
    });
    const far = new AbortController();
    const hopeless = rejection(waiting.wait(10n ** 15n, far.signal));
    await probing.promise;
    await waiting.wait(20n, never);
    far.abort(new Error('gone'));
    expect(await hopeless).to.have.property('message', 'gone');
  });

  it('survives a failed probe', async () => {
    let probes = 0;
    const waiting = waiters({
      probe: async () => {
        await Promise.resolve();
        if (++probes === 1) throw new Error('no connection');
        waiting.reached(20n);
      },
    });
    await waiting.wait(20n, never);
    expect(probes).to.equal(2);
  });

  it('starts a second probe beside a stalled one, and aborts both after the last read', async () => {
    using timers = new FakeTimers();
    const probing: AbortSignal[] = [];
    const waiting = waiters({
      probe: (_, signal) => {
        probing.push(signal);
        if (probing.length === 2) waiting.reached(20n);
        return hanging(signal);
      },
    });
    const waited = waiting.wait(20n, never);
    await timers.tick(5);
    await timers.tick(3_999);
    expect(probing).to.have.length(1);
    await timers.tick(1);
    await timers.tick(20);
    await waited;
    expect(probing.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
  });

  it('limits concurrent probes', async () => {
    using timers = new FakeTimers();
    let running = 0;
    let most = 0;
    const left = new AbortController();
    const waiting = waiters({
      timeoutMs: 60_000,
      probe: async (_, signal) => {
        most = Math.max(most, ++running);
        await hanging(signal);
        running--;
      },
    });
    const waited = rejection(waiting.wait(99n, left.signal));
    await timers.tick(5);
    for (let probe = 0; probe < 10; probe++) {
      await timers.tick(4_000);
      await timers.tick(20);
    }
    expect(most).to.equal(3);
    left.abort(new Error('left'));
    expect(await waited).to.have.property('message', 'left');
  });
});
