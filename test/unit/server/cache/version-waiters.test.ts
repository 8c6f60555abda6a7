// Tests of the queue of reads that wait for a resourceVersion.
import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { VersionWaiters, type WaitOptions } from '../../../../server/cache/version-waiters.ts';
import { until } from '../../../support/until.ts';

function waiters(options: Partial<WaitOptions> & { at?: () => bigint }): VersionWaiters {
  return new VersionWaiters({
    timeoutMs: 8_000,
    probeDelayMs: 5,
    retryMs: 4_000,
    probe: (_, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    current: options.at ?? (() => 10n),
    ...options,
  });
}

const never = new AbortController().signal;

describe('VersionWaiters', () => {
  it('shares one slow probe', async () => {
    let running = 0;
    let most = 0;
    const waiting = waiters({
      probe: (_, signal) => {
        most = Math.max(most, ++running);
        return new Promise((resolve) => {
          const end = (): void => {
            running--;
            resolve();
          };
          signal.addEventListener('abort', end, { once: true });
        });
      },
    });
    const all = Promise.all(Array.from({ length: 50 }, () => waiting.wait(20n, never)));
    await until(() => running > 0);
    waiting.reached(20n);
    await all;
    expect(most).to.equal(1);
  });

  it('rejects with the reason of the signal, and leaves no listener on it', async () => {
    const waiting = waiters({});
    const gone = AbortSignal.abort(new Error('gone'));
    const error: unknown = await waiting.wait(20n, gone).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'gone');
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
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
    });
    const far = new AbortController();
    const hopeless = waiting.wait(10n ** 15n, far.signal).catch((error: unknown) => error);
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
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
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
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve(), { once: true });
        await promise;
        running--;
      },
    });
    const waited = waiting.wait(99n, left.signal).catch((thrown: unknown) => thrown);
    await until(() => most === 3);
    // Without the limit, many more probes would start in this time.
    await delay(50);
    expect(most).to.equal(3);
    left.abort(new Error('left'));
    expect(await waited).to.have.property('message', 'left');
  });
});
