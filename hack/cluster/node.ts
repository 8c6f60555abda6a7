// Program of the real node, in the namespaces of the cluster: starts the control plane, containerd, kubelet, kube-proxy
// and kube-scheduler, and reports to the process that started it. It runs until its namespaces end.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { findPrograms, NODE } from '../control-plane/programs.ts';
import { prepareTokenTrust } from '../start/token-trust.ts';
import { Daemon, type DaemonError, type DaemonSpec } from '../system/daemon.ts';
import { isListening } from '../system/ports.ts';
import { createCgroups } from './cgroups.ts';
import {
  addressesOf,
  CONTAINERD_SOCKET,
  containerdConfiguration,
  importCommand,
  kubeletConfiguration,
  NODE_NAME,
  networkConfiguration,
  proxyConfiguration,
  STATE,
} from './configuration.ts';
import type { NodeMessage } from './message.ts';

const [packages = '', ...archives] = process.argv.slice(2);
const { KS_SUPERVISOR = '', KS_CLUSTER_PID = '', KS_CLUSTER = '' } = process.env;
const addresses = addressesOf(Number(KS_CLUSTER));
const { signal } = new AbortController();
const READY_TIMEOUT = '60s';

function report(message: NodeMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function fail(error: unknown): never {
  report({ failed: messageOf(error) });
  process.exit(1);
}

const progress = (line: string): void => report({ progress: line });

async function file(name: string, content: string): Promise<string> {
  const path = join(STATE, name);
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

type Program = Pick<DaemonSpec, 'name' | 'command' | 'args'> & { readonly port: number };

/** The program as a daemon that is ready when it listens. */
function daemon({ port, ...program }: Program) {
  return (place: Pick<DaemonSpec, 'logFile' | 'pidFile'>, failed: (error: DaemonError) => void): Daemon =>
    new Daemon({ ...program, ...place, ready: () => isListening({ port, host: '127.0.0.1' }) }, failed);
}

async function startContainerd(): Promise<void> {
  await mkdir(join(STATE, 'cni'), { recursive: true });
  await file('cni/pods.conflist', networkConfiguration(addresses));
  const configuration = await file('containerd.toml', containerdConfiguration(packages));
  const containerd = new Daemon(
    {
      name: 'containerd',
      command: join(packages, 'usr/bin/containerd'),
      args: [`--config=${configuration}`],
      logFile: join(STATE, 'containerd.log'),
      pidFile: join(STATE, 'containerd.json'),
      ready: () => isListening({ path: CONTAINERD_SOCKET }),
    },
    fail,
  );
  progress('node: starting containerd');
  await containerd.start(signal);
  for (const archive of archives) {
    const [command, ...args] = importCommand(archive);
    await promisify(execFile)(command, args);
  }
  progress('node: imported the images');
}

async function startApiserver(): Promise<ControlPlane> {
  // Trusts no issuer yet.
  const trust = await prepareTokenTrust(join(STATE, 'authentication-configuration.yaml'));
  return startControlPlane({
    dir: join(STATE, 'control-plane'),
    signal,
    progress,
    controllers: 'all',
    addresses: [addresses.node, addresses.apiserver],
    extraApiserverFlags: [
      trust.flag,
      '--authorization-mode=Node,RBAC',
      '--allow-privileged',
      '--enable-admission-plugins=NodeRestriction',
      '--bind-address=0.0.0.0',
      `--advertise-address=${addresses.node}`,
      '--endpoint-reconciler-type=lease',
      `--service-cluster-ip-range=${addresses.services}`,
    ],
  });
}

async function startNode(cp: ControlPlane): Promise<void> {
  const { pki } = cp;
  const node = await findPrograms(NODE, { signal });
  const kubeconfigs = await Promise.all([
    cp.kubeconfigFor({ name: `system:node:${NODE_NAME}`, groups: ['system:nodes'] }),
    cp.kubeconfigFor({ name: 'system:kube-proxy' }),
    cp.kubeconfigFor({ name: 'system:kube-scheduler' }),
  ]);
  const [kubeletUser, proxyUser, schedulerUser] = kubeconfigs;
  const serving = await pki.cluster.issueServer(
    { cn: `system:node:${NODE_NAME}`, o: ['system:nodes'] },
    { dns: [NODE_NAME], ip: [addresses.node] },
  );
  const cgroup = `ks-cluster-${KS_SUPERVISOR}`;
  await createCgroups(cgroup);
  const kubelet = kubeletConfiguration({
    cgroup,
    addresses,
    files: {
      ca: pki.files.clusterCa,
      cert: await file('kubelet.crt', serving.cert),
      key: await file('kubelet.key', serving.key),
    },
  });
  const programs: Program[] = [
    {
      name: 'kubelet',
      command: node.kubelet,
      args: [
        `--config=${await file('kubelet.yaml', kubelet)}`,
        `--kubeconfig=${kubeletUser}`,
        `--hostname-override=${NODE_NAME}`,
        `--node-ip=${addresses.node}`,
        `--root-dir=${join(STATE, 'kubelet')}`,
      ],
      port: 10248,
    },
    {
      name: 'kube-proxy',
      command: node.kubeProxy,
      // Level 2 has the time of each change of the rules.
      args: [`--config=${await file('kube-proxy.yaml', proxyConfiguration(proxyUser, addresses))}`, '--v=2'],
      port: 10256,
    },
    {
      name: 'kube-scheduler',
      command: node.kubeScheduler,
      args: [
        `--kubeconfig=${schedulerUser}`,
        `--authentication-kubeconfig=${schedulerUser}`,
        `--authorization-kubeconfig=${schedulerUser}`,
        '--leader-elect=false',
        `--cert-dir=${join(STATE, 'scheduler')}`,
      ],
      port: 10259,
    },
  ];
  await Promise.all(programs.map((program) => cp.launch(program.name, daemon(program))));
  const kubectl = (...args: string[]) =>
    promisify(execFile)(cp.kubectl, ['--kubeconfig', cp.kubeconfig, ...args]);
  const wait = ['wait', `--timeout=${READY_TIMEOUT}`, `node/${NODE_NAME}`];
  await kubectl(...wait, '--for=create');
  await kubectl(...wait, '--for=condition=Ready').catch(async (cause: unknown) => {
    const log = join(STATE, 'control-plane/logs/kubelet.log');
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n').slice(-15).join('\n');
    throw new Error(
      `the node was not Ready after ${READY_TIMEOUT}; the end of the log of kubelet:\n${lines}`,
      {
        cause,
      },
    );
  });
  // Reachable from the host.
  const kubeconfig = await readFile(cp.kubeconfig, 'utf8');
  await file('admin.kubeconfig', kubeconfig.replace('//127.0.0.1:', `//${addresses.node}:`));
}

try {
  const [cp] = await Promise.all([startApiserver(), startContainerd()]);
  void cp.failure.then(fail);
  await startNode(cp);
  report({ ready: { cluster: Number(KS_CLUSTER), pid: Number(KS_CLUSTER_PID), kubectl: cp.kubectl } });
} catch (error) {
  fail(error);
}
