// Tests of the pod log store by the conformance suite, with a scripted cluster.

import { logData } from '../../../../../../hack/log-data/log-data.ts';
import type { ClusterClient } from '../../../../../../server/cluster/connection/client.ts';
import { POD_LOG_LIMITS } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.suite.ts';
import { describeLogStore } from '../../../../../conformance/log-store.suite.ts';
import { FaultyProxy } from '../../../../../support/cluster/faulty-proxy.ts';
import { LogCluster } from './log-cluster.ts';

/** The scripted cluster sends no bookmarks, so the pods would be stale after a while. */
const monotonic = (): number => 0;

describeLogStore(
  'the pod logs of a scripted cluster',
  async () => {
    // Longer lines are not searched as a whole for some expressions, see long-lines.test.ts.
    const records = [...logData({ lines: 1_500, namespaces: 4, workloads: 1 }).currentRecords()].filter(
      ({ log }) => log.length < 8_000,
    );
    const cluster = await new LogCluster().start();
    cluster.write(records);
    return {
      // The default limits.
      store: cluster.store(POD_LOG_LIMITS, { monotonic }),
      records,
      precision: 'ns',
      write: async (more) => cluster.write(more),
      stop: () => cluster.stop(),
    };
  },
  { containersBy: 'name', runs: 10, every: 8 },
);

describeLogStoreFaults('the pod logs of a cluster', async () => {
  const cluster = await new LogCluster().start();
  const proxy = await FaultyProxy.start(cluster.url);
  const records = [...logData({ lines: 400, namespaces: 2, workloads: 2 }).currentRecords()];
  cluster.write(records, '2026-12-01T00:00:00Z');
  // The watch of pods has its own connection, because it never becomes idle.
  const [direct, faulty] = [cluster.connect(), cluster.connect(proxy.url)];
  const clientFor = (path: string): ClusterClient => (path.startsWith('/api/v1/pods') ? direct : faulty);
  const client: ClusterClient = {
    open: (request) => clientFor(request.path).open(request),
    json: (request) => clientFor(request.path).json(request),
  };
  return {
    store: cluster.store({}, { client, monotonic, followTuning: { initialBackoffMs: 5 } }),
    proxy,
    records,
    write: async (more) => cluster.write(more, '2026-12-01T00:00:00Z'),
    stop: async () => {
      await cluster.stop();
      await proxy.stop();
    },
  };
});
