import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import pino from 'pino';
import { decodeConfiguration } from '../../../../../../apis/config/v1alpha1/decode.ts';
import { readPair } from '../../../../../../hack/control-plane/pki.ts';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { ClusterConnection } from '../../../../../../server/cluster/connection/connection.ts';
import { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.ts';
import { FaultyProxy } from '../../../../../support/cluster/faulty-proxy.ts';
import { startSimulatedPodLogs } from '../../../../../support/logging/simulated-pod-logs.ts';

/** Whoever comes to the proxy is the administrator. */
function configOf(server: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    // Plain HTTP on loopback: there is no certificate that could be verified, and the client wants that said.
    clusters: [{ name: 'proxy', server, skipTLSVerify: true }],
    users: [{ name: 'nobody' }],
    contexts: [{ name: 'proxy', cluster: 'proxy', user: 'nobody' }],
    currentContext: 'proxy',
  });
  return config;
}

describeLogStoreFaults(
  'the pod logs of a cluster',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pod-logs-'));
    const ending = new AbortController();
    const { signal } = ending;
    const data = logData({ lines: 600, namespaces: 3, workloads: 1 });
    const cluster = await startSimulatedPodLogs(data, { dir, signal });
    const { cp } = cluster;
    const tls = { ca: cp.ca, ...(await readPair(cp.pki.files.admin)) };
    // The pods are known all along; what breaks is the way to their logs.
    const proxy = await FaultyProxy.start(cp.url, { tls, only: (path) => path.includes('/log?') });
    const store = new KubernetesLogStore({
      client: new ClusterConnection({ kubeConfig: () => configOf(proxy.url) }),
      log: pino({ enabled: false }),
      // As they are shipped.
      limits: decodeConfiguration(undefined).logging.kubernetes,
    });
    const running = store.run(signal);
    return {
      store,
      proxy,
      records: cluster.records,
      write: (records) => cluster.write(records),
      stop: async () => {
        ending.abort();
        await running;
        await proxy.stop();
        await cp.stop();
        await rm(dir, { recursive: true, force: true });
      },
    };
  },
  { checked: false },
);
