// Tests of leader election with a Lease, against a real control plane.
import { once } from 'node:events';
import { expect } from 'chai';
import { LeaderElection } from '../../../../server/cluster/election/leader-election.ts';
import { kubectl } from '../../hack/control-plane/programs.ts';
import type { FollowedCluster } from './followed-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

/** Lease times that are long enough for slow machines: no holder loses the Lease involuntarily. */
const PATIENT = { leaseMs: 60_000, renewMs: 50_000, retryMs: 100 };
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };

describe('the Lease in a real cluster', () => {
  let controlPlane: FollowedCluster['controlPlane'];
  let client: FollowedCluster['direct'];

  before(async () => {
    ({ controlPlane, direct: client } = await sharedCluster());
  });

  const shown = (field: string): Promise<string> =>
    kubectl(controlPlane, 'get', 'lease', 'cleaner', '-o', `jsonpath={.spec.${field}}`);

  it('has one holder at a time, is released at its stop, and is visible to kubectl', async () => {
    const leading = new Set<string>();
    let most = 0;
    const replicas = ['a', 'b', 'c'].map((identity) => {
      const stop = new AbortController();
      const elected = Promise.withResolvers<string>();
      const lease = { namespace: 'default', name: 'cleaner', identity };
      const election = new LeaderElection({ client, ...lease, log: quiet, timing: PATIENT });
      const running = election.run(stop.signal, async (signal) => {
        leading.add(identity);
        most = Math.max(most, leading.size);
        elected.resolve(identity);
        await once(signal, 'abort');
        leading.delete(identity);
      });
      return { identity, elected: elected.promise, stop: async () => (stop.abort(), running) };
    });
    let left = replicas;
    while (left.length > 0) {
      const first = await Promise.race(left.map(({ elected }) => elected));
      expect(await shown('holderIdentity')).to.equal(first);
      await left.find(({ identity }) => identity === first)?.stop();
      left = left.filter(({ identity }) => identity !== first);
    }
    expect(most).to.equal(1);
    expect(await shown('leaseTransitions')).to.equal('2');
  });
});
