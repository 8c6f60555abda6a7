// Starts a real kube-apiserver with KWOK as kubelet, for tests with the pods of the log data set.
import { join } from 'node:path';
import { array, record, text } from '../../../apis/reading/unknown-value.ts';
import { type ControlPlane, startControlPlane } from '../../../hack/control-plane/control-plane.ts';
import { kwokLogs, podObjects, touchCriLogs, writeCriLogs } from '../../../hack/log-data/cri-log.ts';
import type { LogData } from '../../../hack/log-data/log-data.ts';
import type { LogRecord } from '../../../hack/log-stores/record.ts';
import { forEach } from '../../../hack/simulation/bulk.ts';
import { startKwok } from '../../../hack/simulation/kwok.ts';
import { nodeName } from '../../../hack/simulation/realistic-node.ts';

export interface SimulatedPodLogs {
  readonly cp: ControlPlane;
  /** Records of the running containers. */
  readonly records: readonly LogRecord[];
  /** Appends to the logs of existing containers. */
  write(records: Iterable<LogRecord>): Promise<void>;
}

/** Resolves when all pods run. All files are in the folder; `cp.stop()` ends it. */
export async function startSimulatedPodLogs(
  data: LogData,
  { dir, signal }: { dir: string; signal: AbortSignal },
): Promise<SimulatedPodLogs> {
  const logs = join(dir, 'pod-logs');
  const records = [...data.currentRecords()];
  await touchCriLogs(logs, data.pods);
  await writeCriLogs(logs, records);
  const cp = await startControlPlane({ dir: join(dir, 'control-plane'), signal });
  try {
    await startKwok(cp, { nodes: 2, pods: 0, objects: kwokLogs(logs, data.pods), signal });
    await createPods(cp, data, signal);
  } catch (error) {
    await cp.stop();
    throw error;
  }
  return { cp, records, write: (more) => writeCriLogs(logs, more) };
}

async function createPods(cp: ControlPlane, data: LogData, signal: AbortSignal): Promise<void> {
  const namespaces = [...new Set(data.pods.map(({ namespace }) => namespace))];
  const create = (path: string, body: object) =>
    cp.client.expect(path, { method: 'POST', body, signal }, [201, 409]);
  await forEach(namespaces.values(), { signal }, async (name) => {
    await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    // Its controller would create it later, and pods are rejected until then.
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await create(`/api/v1/namespaces/${name}/serviceaccounts`, account);
  });
  const pods = podObjects(data.pods, [nodeName(0), nodeName(1)]);
  await forEach(pods.values(), { signal }, async (pod) => {
    await create(`/api/v1/namespaces/${pod.metadata.namespace}/pods`, pod);
  });
  await untilRunning(cp, pods.length, signal);
}

async function untilRunning(cp: ControlPlane, many: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { items, metadata } = record(
      await cp.client.get('/api/v1/pods?fieldSelector=status.phase%3DRunning', signal),
    );
    if (array(items).length >= many) return;
    const version = text(record(metadata)['resourceVersion']);
    // A change, or one second.
    await cp.client.send(`/api/v1/pods?watch=true&timeoutSeconds=1&resourceVersion=${version}`, { signal });
  }
}
