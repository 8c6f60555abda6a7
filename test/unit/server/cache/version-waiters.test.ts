// Tests of the queue of reads that wait for a resourceVersion.
import { getEventListeners, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { VersionWaiters, type WaitOptions } from '../../../../server/cache/version-waiters.ts';
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
    const probing: AbortSignal[] = [];
    const begun: number[] = [];
    const waiting = waiters({
      retryMs: 150,
      probe: (_, signal) => {
        probing.push(signal);
        begun.push(performance.now());
        if (probing.length === 2) waiting.reached(20n);
        return hanging(signal);
      },
    });
    await waiting.wait(20n, never);
    expect(probing.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
    const [first = 0, second = 0] = begun;
    expect(second - first).to.be.above(145);
  });

  it('limits concurrent probes', async () => {
    let running = 0;
    let most = 0;
    const left = new AbortController();
    const waiting = waiters({
      retryMs: 5,
      probeDelayMs: 1,
      probe: async (_, signal) => {
        most = Math.max(most, ++running);
        await hanging(signal);
        running--;
      },
    });
    const waited = rejection(waiting.wait(99n, left.signal));
    await until(() => most === 3);
    // Without the limit, many more probes would start in this time.
    await delay(50);
    expect(most).to.equal(3);
    left.abort(new Error('left'));
    expect(await waited).to.have.property('message', 'left');
  });
});
