// Tests of the pod log store by the conformance suite, against a real kube-apiserver.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { decodeConfiguration } from '../../../../../../apis/config/v1alpha1/decode.ts';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { ClusterConnection } from '../../../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../../../server/cluster/connection/kubeconfig.ts';
import { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { startSimulatedPodLogs } from '../../../../../support/logging/simulated-pod-logs.ts';

describeLogStore(
  'the pod logs of a cluster',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pod-logs-'));
    const ending = new AbortController();
    const { signal } = ending;
    const data = logData({ lines: 1_500, namespaces: 4, workloads: 1 });
    const cluster = await startSimulatedPodLogs(data, { dir, signal });
    const { cp } = cluster;
    const client = new ClusterConnection({ kubeConfig: kubeConfigSource(cp.kubeconfig) });
    const store = new KubernetesLogStore({
      client,
      log: pino({ enabled: false }),
      // The default limits.
      limits: decodeConfiguration(undefined).logging.kubernetes,
    });
    const running = store.run(signal);
    return {
      store,
      records: cluster.records,
      precision: 'ns',
      write: (records) => cluster.write(records),
      stop: async () => {
        ending.abort();
        await running;
        await cp.stop();
        await rm(dir, { recursive: true, force: true });
      },
    };
  },
  // The same store passes the whole suite with a scripted cluster.
  { containersBy: 'name', core: true, every: 8 },
);
