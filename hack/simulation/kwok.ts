// Starts one KWOK process that simulates kubelets: node leases, running pods and pod logs. simulated-cluster.ts
// creates the nodes and pods.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { Client } from '../control-plane/client.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { Folder } from '../control-plane/folder.ts';
import { findPrograms } from '../control-plane/programs.ts';
import { Daemon } from '../system/daemon.ts';
import type { Progress } from '../terminal/progress.ts';
import { forEach, namesIn } from './bulk.ts';
import { CRASH_LOOP_STAGE } from './crash-loop.ts';
import { installLogs } from './kwok-logs.ts';
import { writePodLogs } from './pod-logs.ts';
import { createCluster, SIMULATED } from './simulated-cluster.ts';
import { slowStages } from './slow-stages.ts';

interface KwokOptions {
  /** Number of nodes; further nodes of an earlier start stay. */
  readonly nodes: number;
  /** Number of pods, as replicas of the applications' Deployments. */
  readonly pods: number;
  /** Further objects of KWOK's configuration, such as the `Logs` of pods whose log files exist. */
  readonly objects?: readonly object[];
  /** Whether objects of the kind Logs name the log files of single pods. */
  readonly hasPodLogs?: boolean;
  readonly signal: AbortSignal;
  readonly progress?: Progress;
}

/** Starts KWOK in the control plane, and resolves when its nodes are Ready and its pods Running. */
export async function startKwok(cp: ControlPlane, options: KwokOptions): Promise<void> {
  const kubelet = { address: '127.0.0.1', port: cp.ports.kwok };
  const dir = cp.folder.kwok;
  await mkdir(dir, { recursive: true });
  const { kwok, kwokStages } = await findPrograms(['kwok', 'kwokStages'], options);
  const config = await writeConfig(cp, dir, kwokStages, options);
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
    ...(options.hasPodLogs === true ? ['--enable-crds=Logs'] : []),
    `--manage-nodes-with-annotation-selector=${SIMULATED.key}=${SIMULATED.value}`,
  ];
  if (options.hasPodLogs === true) await installLogs(cp.client, options.signal);
  await dropLeases(cp.client, options);
  const health = new Client(`https://${kubelet.address}:${kubelet.port}`, { ca: cp.ca }, 1);
  try {
    await cp.launch(
      'kwok',
      (place, failed) =>
        new Daemon(
          {
            name: 'kwok',
            command: kwok,
            args,
            ...place,
            // A separate folder, so that KWOK does not read a configuration in the user's home.
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

/** Folder of the applications' logs. */
export function podLogs(folder: Pick<Folder, 'kwok'>): string {
  return join(folder.kwok, 'logs');
}

/** Deletes old leases: a new KWOK takes over nodes only when the leases of the previous one have expired (40 s). */
async function dropLeases(client: Client, options: KwokOptions): Promise<void> {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const names = await namesIn(client, path, options.signal);
  await forEach(names.values(), options, async (name, signal) => {
    await client.expect(`${path}/${name}`, { method: 'DELETE', signal }, [200, 404]);
  });
}

/** Writes the configuration: the stages, without which KWOK does nothing, and the pod logs. */
async function writeConfig(
  cp: ControlPlane,
  dir: string,
  stagesProgram: string,
  { signal, objects = [] }: KwokOptions,
): Promise<string> {
  const { stdout: stages } = await promisify(execFile)(stagesProgram, [], { signal });
  const logs = {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'ClusterLogs',
    metadata: { name: 'applications' },
    spec: { logs: await writePodLogs(podLogs(cp.folder)) },
  };
  const settings = {
    apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
    kind: 'KwokConfiguration',
    // The default of four workers is slow for thousands of nodes. With a configuration file, the default feature
    // switches do not apply: logs and paging must be enabled.
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
    [
      stages,
      ...[...slowStages(stages), CRASH_LOOP_STAGE, settings, logs, ...objects].map((part) => stringify(part)),
    ].join('\n---\n'),
  );
  return path;
}
