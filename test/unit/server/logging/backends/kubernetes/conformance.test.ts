// Tests of the pod log store by the conformance suite, with a scripted cluster.
import { decodeConfiguration } from '../../../../../../apis/config/v1alpha1/decode.ts';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import type { LogRecord } from '../../../../../../hack/log-stores/record.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { KubeletLog } from './kubelet-log.ts';
import { type Container, LogCluster } from './log-cluster.ts';

describeLogStore(
  'the pod logs of a scripted cluster',
  async () => {
    const records = [...logData({ lines: 1_500, namespaces: 4, workloads: 1 }).currentRecords()];
    const cluster = await new LogCluster().start();
    const logs = new Map<string, KubeletLog>();
    const write = async (more: readonly LogRecord[]): Promise<void> => {
      for (const { time, log, kubernetes } of more) {
        logs.get(keyOf(kubernetes))?.append({ time, text: log.replace(/\n+$/, '') });
      }
    };
    for (const ofPod of Map.groupBy(records, ({ kubernetes }) => podOf(kubernetes)).values()) {
      const containers: Container[] = [];
      for (const { time, kubernetes } of ofPod) {
        if (logs.has(keyOf(kubernetes))) continue;
        const log = new KubeletLog();
        logs.set(keyOf(kubernetes), log);
        // A later first line would be a sign of rotation.
        containers.push({ name: kubernetes.container_name, log, startedAt: time });
      }
      const [first] = ofPod;
      if (!first) continue;
      const { namespace_name: namespace, pod_name: name } = first.kubernetes;
      cluster.put({ namespace, name, containers });
    }
    await write(records);
    return {
      // The default limits.
      store: cluster.store(decodeConfiguration(undefined).logging.kubernetes),
      records,
      precision: 'ns',
      write,
      stop: () => cluster.stop(),
    };
  },
  { containersBy: 'name', runs: 10, every: 8 },
);

type Source = LogRecord['kubernetes'];

function podOf({ namespace_name: namespace, pod_name: pod }: Source): string {
  return `${namespace}/${pod}`;
}

function keyOf(source: Source): string {
  return `${podOf(source)}/${source.container_name}`;
}
