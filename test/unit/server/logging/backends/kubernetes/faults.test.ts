// Tests of the pod log store during failures, with a fake kube-apiserver.
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import type { LogRecord } from '../../../../../../hack/log-stores/record.ts';
import type { ClusterClient } from '../../../../../../server/cluster/connection/client.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.ts';
import { FaultyProxy } from '../../../../../support/cluster/faulty-proxy.ts';
import { KubeletLog } from './kubelet-log.ts';
import { LogCluster, type Pod } from './log-cluster.ts';

function logsOf(cluster: LogCluster): (record: LogRecord) => KubeletLog {
  return ({ kubernetes: { namespace_name: namespace, pod_name: name, container_name } }) => {
    const pod: Pod = cluster.pods.get(`${namespace}/${name}`) ?? { namespace, name, containers: [] };
    let container = pod.containers.find((one) => one.name === container_name);
    if (!container) {
      container = { name: container_name, log: new KubeletLog(), startedAt: '2026-12-01T00:00:00Z' };
      pod.containers.push(container);
      cluster.put(pod);
    }
    return container.log;
  };
}

describeLogStoreFaults('the pod logs of a cluster', async () => {
  const cluster = await new LogCluster().start();
  const proxy = await FaultyProxy.start(cluster.url);
  const logOf = logsOf(cluster);
  const write = async (records: readonly LogRecord[]): Promise<void> => {
    for (const record of records) logOf(record).append({ time: record.time, text: record.log });
  };
  const records = [...logData({ lines: 400, namespaces: 2, workloads: 2 }).currentRecords()];
  await write(records);
  // The watch of pods has its own connection, because it never becomes idle.
  const [direct, faulty] = [cluster.connect(), cluster.connect(proxy.url)];
  const clientFor = (path: string): ClusterClient => (path.startsWith('/api/v1/pods') ? direct : faulty);
  const client: ClusterClient = {
    open: (request) => clientFor(request.path).open(request),
    json: (request) => clientFor(request.path).json(request),
  };
  return {
    store: cluster.store({}, { client, followTuning: { initialBackoffMs: 5 } }),
    proxy,
    records,
    write,
    stop: async () => {
      await cluster.stop();
      await proxy.stop();
    },
  };
});
