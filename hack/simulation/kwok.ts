// Simulated kubelets: one KWOK process that keeps the leases of its nodes, runs
// pods and serves their logs. Which nodes and pods there are is decided in
// simulated-cluster.ts; what the logs say in pod-logs.ts.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { Client } from '../control-plane/client.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { Folder } from '../control-plane/folder.ts';
import { Daemon } from '../system/daemon.ts';
import type { Progress } from '../terminal/progress.ts';
import { forEach, namesIn } from './bulk.ts';
import { writePodLogs } from './pod-logs.ts';
import { createCluster, SIMULATED } from './simulated-cluster.ts';

export interface KwokOptions {
  /** Nodes that are there afterwards; more of them from an earlier start are left alone. */
  readonly nodes: number;
  /** Pods over the applications, as replicas of their Deployments. */
  readonly pods: number;
  /** `Logs` objects of further pods, whose log files exist by now. */
  readonly logs?: readonly object[];
  readonly signal: AbortSignal;
  readonly progress?: Progress;
}

/** Starts KWOK as a part of the control plane, and returns when its nodes are Ready and its pods Running. */
export async function startKwok(cp: ControlPlane, options: KwokOptions): Promise<void> {
  const kubelet = { address: '127.0.0.1', port: cp.ports.kwok };
  const dir = cp.folder.kwok;
  await mkdir(dir, { recursive: true });
  const config = await writeConfig(cp, dir, options);
  const kubeconfig = await cp.kubeconfigFor({ name: 'kwok-controller', groups: ['system:masters'] });
  const { cert, key } = cp.pki.files.kubelet;
  const args = [
    `--config=${config}`,
    `--kubeconfig=${kubeconfig}`,
    `--server-address=${kubelet.address}:${kubelet.port}`,
    `--node-ip=${kubelet.address}`,
    `--node-port=${kubelet.port}`,
    `--tls-cert-file=${cert}`,
    `--tls-private-key-file=${key}`,
    '--node-lease-duration-seconds=40',
    `--manage-nodes-with-annotation-selector=${SIMULATED.key}=${SIMULATED.value}`,
  ];
  await dropLeases(cp.client, options);
  const health = new Client(`https://${kubelet.address}:${kubelet.port}`, { ca: cp.ca }, 1);
  try {
    await cp.launch(
      'kwok',
      (place, failed) =>
        new Daemon(
          {
            name: 'kwok',
            command: cp.binaries.kwok,
            args,
            ...place,
            // Its own folder, so that a configuration in the user's home is not read.
            env: { KWOK_WORKDIR: dir },
            ready: async (signal) => (await health.send('/healthz', { signal })).status === 200,
            stopTimeoutMs: 2_000,
          },
          failed,
        ),
    );
  } finally {
    health.close();
  }
  await createCluster(cp.client, { ...options, kubelet });
}

/** Where the logs of the applications are. */
export function podLogs(folder: Pick<Folder, 'kwok'>): string {
  return join(folder.kwok, 'logs');
}

/** Each KWOK has a name of its own and takes over nodes only when the leases of the one before have run out: 40 s. */
async function dropLeases(client: Client, options: KwokOptions): Promise<void> {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const names = await namesIn(client, path, options.signal);
  await forEach(names.values(), options, async (name, signal) => {
    await client.expect(`${path}/${name}`, { method: 'DELETE', signal }, [200, 404]);
  });
}

/** KWOK does nothing without stages: those that it ships, and where the logs of pods are. */
async function writeConfig(
  cp: ControlPlane,
  dir: string,
  { signal, logs: further = [] }: KwokOptions,
): Promise<string> {
  const { stdout: stages } = await promisify(execFile)(cp.binaries.kwokStages, [], { signal });
  const logs = {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'ClusterLogs',
    metadata: { name: 'applications' },
    spec: { logs: await writePodLogs(podLogs(cp.folder)) },
  };
  const settings = {
    apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
    kind: 'KwokConfiguration',
    // Four at a time unless told otherwise, which is slow for thousands of nodes.
    // With a configuration its default switches no longer apply: logs and paging have to be turned on.
    options: {
      enableDebuggingHandlers: true,
      enablePodsOnNodeSyncListPager: true,
      nodeLeaseParallelism: 16,
      nodePlayStageParallelism: 16,
      podPlayStageParallelism: 16,
      podsOnNodeSyncParallelism: 16,
    },
  };
  const path = join(dir, 'kwok.yaml');
  await writeFile(
    path,
    [stages, ...[settings, logs, ...further].map((part) => stringify(part))].join('\n---\n'),
  );
  return path;
}
