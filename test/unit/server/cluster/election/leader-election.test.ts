// Tests of leader election against a fake kube-apiserver.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { LeaderElection } from '../../../../../server/cluster/election/leader-election.ts';
import { readLease } from '../../../../../server/cluster/election/lease-record.ts';
import { MemoryObjects } from '../../../../support/cluster/memory-objects.ts';
import { FakeTimers } from '../../../../support/fake-timers.ts';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const PATH = '/apis/coordination.k8s.io/v1/namespaces/ns/leases/cleaner';
const TIMING = { leaseMs: 400, renewMs: 250, retryMs: 10 };

type Given = ConstructorParameters<typeof LeaderElection>[0];

function electionOf(client: Pick<MemoryObjects, 'json'>, given: Partial<Given> = {}): LeaderElection {
  const options = { namespace: 'ns', name: 'cleaner', identity: 'a', log: quiet, timing: TIMING };
  return new LeaderElection({ client, ...options, ...given });
}

function replica(client: MemoryObjects, identity: string, monotonic?: () => number) {
  const end = new AbortController();
  let next = Promise.withResolvers<AbortSignal>();
  const election = electionOf(client, { identity, ...(monotonic ? { monotonic } : {}) });
  const running = election.run(end.signal, async (signal) => {
    next.resolve(signal);
    await ended(signal);
    next = Promise.withResolvers();
  });
  return {
    /** Resolves with the AbortSignal of the current or next term. */
    elected: () => next.promise,
    stop: async () => {
      end.abort();
      await running;
    },
  };
}

async function ended(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

describe('LeaderElection', () => {
  it('lets another replica take over after the Lease of a silent holder has expired', async () => {
    const cluster = new MemoryObjects();
    await cluster.json({
      method: 'POST',
      path: PATH.replace('/cleaner', ''),
      json: {
        metadata: { name: 'cleaner' },
        // The times in the Lease are long past, but only the time since the last observed change counts.
        spec: { holderIdentity: 'gone', leaseDurationSeconds: 1, renewTime: '2001-01-01T00:00:00.000000Z' },
      },
      signal: new AbortController().signal,
    });
    let now = 0;
    const second = replica(cluster, 'b', () => now);
    const requests = async (count: number): Promise<void> => {
      for (const end = cluster.requests.length + count; cluster.requests.length < end; ) await nextTurn();
    };
    await requests(2);
    now = 999;
    await requests(2);
    expect(spec(cluster)).to.include({ holderIdentity: 'gone' });
    now = 1_000;
    await second.elected();
    expect(cluster.objects.get(PATH)?.['spec']).to.include({ leaseTransitions: 1 });
    await second.stop();
  });

  it('stops leading before others can take over when the cluster is unreachable', async () => {
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

  const spec = (cluster: MemoryObjects): Readonly<Record<string, unknown>> =>
    (cluster.objects.get(PATH)?.['spec'] ?? {}) as Readonly<Record<string, unknown>>;

  /** Resolves after the next response to this method. */
  function answered(cluster: MemoryObjects): Promise<void> {
    return new Promise((resolve) => {
      cluster.changed = resolve;
    });
  }

  it('stops leading at once when another replica holds the Lease', async () => {
    const cluster = new MemoryObjects();
    let now = 0;
    const first = replica(cluster, 'a', () => now);
    const term = await first.elected();
    cluster.objects.set(PATH, {
      metadata: { name: 'cleaner', resourceVersion: '1000' },
      spec: { ...spec(cluster), holderIdentity: 'b', leaseDurationSeconds: 100 },
    });
    await ended(term);
    now = 50;
    await first.stop();
    expect(spec(cluster)).to.include({ holderIdentity: 'b', leaseDurationSeconds: 100 });
  });

  it('measures the renewal from before the request', async () => {
    const cluster = new MemoryObjects();
    let now = 0;
    const only = replica(cluster, 'a', () => now);
    const term = await only.elected();
    const renewed = answered(cluster);
    cluster.before = ({ method }) => {
      if (method === 'PUT') now = TIMING.renewMs - 50;
    };
    await renewed;
    cluster.before = () => {
      now = TIMING.renewMs;
      throw new StatusError(503, 'ServiceUnavailable', 'gone');
    };
    await ended(term);
    cluster.before = () => undefined;
    await only.stop();
  });

  it('warns once about a rejected Lease, and not about conflicts and outages', async () => {
    const cluster = new MemoryObjects();
    const warned: string[] = [];
    const election = electionOf(cluster, {
      log: { ...quiet, warn: ({ err }: { err: Error }) => void warned.push(err.message) },
    });
    const errors = [
      new StatusError(503, 'ServiceUnavailable', 'away'),
      new StatusError(403, 'Forbidden', 'no permission for leases'),
      new StatusError(403, 'Forbidden', 'no permission for leases'),
      new StatusError(409, 'Conflict', 'another one was faster'),
      new StatusError(429, 'TooManyRequests', 'later'),
      new StatusError(404, 'NotFound', 'no such namespace'),
    ];
    cluster.before = ({ method }) => {
      const error = method === 'POST' ? errors.shift() : undefined;
      if (error) throw error;
    };
    const end = new AbortController();
    const elected = Promise.withResolvers<void>();
    const running = election.run(end.signal, async (signal) => {
      elected.resolve();
      await ended(signal);
    });
    await elected.promise;
    expect(warned).to.deep.equal(['no permission for leases', 'no such namespace']);
    end.abort();
    await running;
  });

  it('ends and releases the Lease when it is stopped while it acquires it', async () => {
    const cluster = new MemoryObjects();
    const stop = new AbortController();
    const json: MemoryObjects['json'] = async (request) => {
      const written = await cluster.json(request);
      if (request.method === 'POST') stop.abort();
      return written;
    };
    await electionOf({ json }).run(stop.signal, ended);
    expect(readLease(cluster.objects.get(PATH)).holder).to.equal('');
  });

  it('starts no new term before the previous work has ended', async () => {
    const cluster = new MemoryObjects();
    const end = new AbortController();
    const work = Promise.withResolvers<void>();
    const first = Promise.withResolvers<AbortSignal>();
    const second = Promise.withResolvers<void>();
    let terms = 0;
    const election = electionOf(cluster);
    const running = election.run(end.signal, async (signal) => {
      if (++terms === 1) first.resolve(signal);
      else second.resolve();
      await (terms === 1 ? work.promise : ended(signal));
    });
    const term = await first.promise;
    cluster.before = () => {
      throw new StatusError(503, 'ServiceUnavailable', 'gone');
    };
    await ended(term);
    expect(election.leading).to.equal(false);
    const requested = cluster.requests.length;
    cluster.before = () => undefined;
    {
      using timers = new FakeTimers();
      for (let retry = 0; retry < 5; retry++) await timers.tick(TIMING.retryMs);
    }
    expect({ terms, requested: cluster.requests.length }).to.deep.equal({ terms: 1, requested });
    work.resolve();
    await second.promise;
    end.abort();
    await running;
  });
});
