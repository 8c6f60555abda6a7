import { expect } from 'chai';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { LeaderElection } from '../../../../server/cluster/lease.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const PATH = '/apis/coordination.k8s.io/v1/namespaces/ns/leases/cleaner';
const TIMING = { leaseMs: 400, renewMs: 250, retryMs: 10 };

interface Replica {
  readonly election: LeaderElection;
  /** Resolves when it leads next; its value is the signal of that term. */
  elected(): Promise<AbortSignal>;
  stop(): Promise<void>;
}

function replica(client: MemoryObjects, identity: string, monotonic?: () => number): Replica {
  const end = new AbortController();
  let waiting: ((signal: AbortSignal) => void) | undefined;
  let term: AbortSignal | undefined;
  const election = new LeaderElection({
    client,
    namespace: 'ns',
    name: 'cleaner',
    identity,
    log: quiet,
    timing: TIMING,
    ...(monotonic ? { monotonic } : {}),
  });
  const running = election.run(end.signal, async (signal) => {
    term = signal;
    waiting?.(signal);
    await ended(signal);
    term = undefined;
  });
  return {
    election,
    elected: () =>
      term
        ? Promise.resolve(term)
        : new Promise((resolve) => {
            waiting = resolve;
          }),
    stop: async () => {
      end.abort();
      await running;
    },
  };
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

describe('LeaderElection', () => {
  it('elects one of two, and the other at once when the first one stops', async () => {
    const cluster = new MemoryObjects();
    const first = replica(cluster, 'a');
    await first.elected();
    const second = replica(cluster, 'b');
    const taken = second.elected();
    expect(second.election.leading).to.equal(false);
    await first.stop();
    await taken;
    expect(first.election.leading).to.equal(false);
    expect(cluster.objects.get(PATH)?.['spec']).to.include({ holderIdentity: 'b' });
    await second.stop();
  });

  it('lets another one take over only when the Lease of a silent holder has expired', async () => {
    const cluster = new MemoryObjects();
    await cluster.json({
      method: 'POST',
      path: PATH.replace('/cleaner', ''),
      json: {
        metadata: { name: 'cleaner' },
        // Its times say that it expired long ago; only what was observed counts.
        spec: { holderIdentity: 'gone', leaseDurationSeconds: 1, renewTime: '2001-01-01T00:00:00.000000Z' },
      },
      signal: new AbortController().signal,
    });
    const began = performance.now();
    const second = replica(cluster, 'b');
    await second.elected();
    expect(performance.now() - began).to.be.at.least(1000);
    expect(cluster.objects.get(PATH)?.['spec']).to.include({ leaseTransitions: 1 });
    await second.stop();
  });

  it('ends the term before others may take over when the cluster can not be reached', async () => {
    const cluster = new MemoryObjects();
    let now = 0;
    const only = replica(cluster, 'a', () => now);
    const term = await only.elected();
    const refused = (times: number): Promise<void> =>
      new Promise((resolve) => {
        cluster.before = () => {
          if (--times === 0) resolve();
          throw new StatusError(503, 'ServiceUnavailable', 'gone');
        };
      });
    await refused(1);
    now = TIMING.renewMs - 1;
    await refused(3);
    expect(term.aborted).to.equal(false);
    now = TIMING.renewMs;
    await ended(term);
    cluster.before = () => undefined;
    await only.elected();
    await only.stop();
  });

  it('ends the term when the work has ended, so that another replica may do it', async () => {
    const cluster = new MemoryObjects();
    const end = new AbortController();
    let terms = 0;
    const election = new LeaderElection({
      client: cluster,
      namespace: 'ns',
      name: 'cleaner',
      identity: 'a',
      log: quiet,
      timing: TIMING,
    });
    const second = new Promise<void>((resolve) => {
      void election.run(end.signal, async () => {
        terms++;
        if (terms === 2) resolve();
        await Promise.resolve();
        throw new Error('can not go on');
      });
    });
    await second;
    end.abort();
    expect(terms).to.equal(2);
  });
});
