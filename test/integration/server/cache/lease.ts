// Tests of leader election with a Lease, against a real control plane.
import { expect } from 'chai';
import { LeaderElection } from '../../../../server/cluster/election/leader-election.ts';
import { until } from '../../../support/until.ts';
import { kubectl } from '../../hack/control-plane/programs.ts';
import type { FollowedCluster } from './followed-cluster.ts';

/** Lease times that are long enough for slow machines: no holder loses the Lease involuntarily. */
const PATIENT = { leaseMs: 60_000, renewMs: 50_000, retryMs: 100 };
const IMPATIENT = { leaseMs: 2000, renewMs: 1500, retryMs: 100 };
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };

export function describeLease(subject: () => FollowedCluster): void {
  describe('the Lease in a real cluster', () => {
    let controlPlane: FollowedCluster['controlPlane'];
    let client: FollowedCluster['direct'];

    before(() => {
      ({ controlPlane, direct: client } = subject());
    });

    it('has one holder at a time, is released at its stop, and is visible to kubectl', async () => {
      const leading = new Set<string>();
      let most = 0;
      const replicas = ['a', 'b', 'c'].map((identity) => {
        const stop = new AbortController();
        const elected = Promise.withResolvers<string>();
        const election = new LeaderElection({
          client,
          namespace: 'default',
          name: 'cleaner',
          identity,
          log: quiet,
          timing: PATIENT,
        });
        const running = election.run(stop.signal, async (signal) => {
          leading.add(identity);
          most = Math.max(most, leading.size);
          elected.resolve(identity);
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve, { once: true });
          });
          leading.delete(identity);
        });
        return { identity, elected: elected.promise, stop: async () => (stop.abort(), running) };
      });
      let left = replicas;
      while (left.length > 0) {
        const first = await Promise.race(left.map(({ elected }) => elected));
        const holder = await kubectl(
          controlPlane,
          'get',
          'lease',
          'cleaner',
          '-o',
          'jsonpath={.spec.holderIdentity}',
        );
        expect(holder).to.equal(first);
        await left.find(({ identity }) => identity === first)?.stop();
        left = left.filter(({ identity }) => identity !== first);
      }
      expect(most).to.equal(1);
      const transitions = await kubectl(
        controlPlane,
        'get',
        'lease',
        'cleaner',
        '-o',
        'jsonpath={.spec.leaseTransitions}',
      );
      expect(transitions).to.equal('2');
    });

    it('is released while kube-apiserver is unavailable, and acquired again afterwards', async () => {
      const stop = new AbortController();
      const terms: AbortSignal[] = [];
      let begun = Promise.withResolvers<AbortSignal>();
      const election = new LeaderElection({
        client,
        namespace: 'default',
        name: 'other',
        identity: 'a',
        log: quiet,
        timing: IMPATIENT,
      });
      const running = election.run(stop.signal, async (signal) => {
        terms.push(signal);
        begun.resolve(signal);
        begun = Promise.withResolvers();
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve, { once: true });
        });
      });
      await begun.promise;
      await controlPlane.apiserver.pause();
      // A slow machine may have lost and acquired it before.
      await until(() => !election.leading);
      expect(terms.at(-1)?.aborted).to.equal(true);
      const before = terms.length;
      const again = begun.promise;
      controlPlane.apiserver.resume();
      await again;
      expect(terms.length).to.equal(before + 1);
      stop.abort();
      await running;
    });
  });
}
