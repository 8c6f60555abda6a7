// Tests of reads of pod logs from kubelets that hang.
import { expect } from 'chai';
import { until } from '../../../../../support/until.ts';
import { at, call, everything } from './instants.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';

describe('a kubelet that hangs', () => {
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  it('delays only callers who read its logs', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `hanging-${n}`);
    for (const name of names) cluster.add('evil', name, [at(1)]);
    cluster.add('shop', 'cart', [at(2)]);
    cluster.disturb = ({ pathname }) => pathname.includes('/hanging-');
    const store = cluster.store({ concurrentReads: 8 });
    const leaving = new AbortController();
    const hanging = ['mallory', 'oscar'].map((caller) =>
      store.statistics(
        { ...everything, namespaces: { exact: ['evil'] } },
        { ...call, caller, signal: leaving.signal },
      ),
    );
    await until(() => cluster.openReads >= 6);
    const shop = { ...everything, namespaces: { exact: ['shop'] } };
    const { logs, shortfalls } = await store.statistics(shop, { ...call, caller: 'jane' });
    expect([logs, shortfalls]).to.deep.equal([{ count: 1, relation: 'eq' }, []]);
    expect(cluster.openReads).to.be.at.least(6);
    leaving.abort(new Error('gone'));
    await Promise.allSettled(hanging);
    // Less than the time limit of the hanging reads, after which their slots are free.
  }).timeout(40_000);
});
