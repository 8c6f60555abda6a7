// What the rows are measured on: a control plane with its nodes, our server registered beside it, and the load
// generator. Owns starting and ending it; what is measured is in ../rows.
import { join } from 'node:path';
import { buildClients } from '../../clients/build.ts';
import type { Client } from '../../control-plane/client.ts';
import { type ControlPlane, startControlPlane } from '../../control-plane/control-plane.ts';
import type { PairFiles } from '../../control-plane/pki.ts';
import { apply, available, grant, register, SERVICE_ACCOUNT } from '../../extension/registration.ts';
import { ServerProcess, type ServerProcessOptions } from '../../extension/server-process.ts';
import { createNodes, nodeName } from '../../simulation/realistic-node.ts';
import { prepareTokenTrust } from '../../start/token-trust.ts';
import { freePort } from '../../system/ports.ts';
import type { Progress } from '../../terminal/progress.ts';
import { LoadGenerator, type Target } from '../measuring/load-generator.ts';
import type { Machine } from '../measuring/machine.ts';
import { pairFiles, pemFile } from './pem-files.ts';
import { inWorkFolder } from './work-folder.ts';

export const CORE_NODES = '/api/v1/nodes';
export const OUR_NODES = '/apis/resources.platform.io/v1alpha3/nodes';

const PROBE = join(import.meta.dirname, '../measuring/loop-probe.ts');

/** A caller who is neither cluster-admin nor system:masters: each request is authenticated and authorized. */
const CALLER = 'bench';

/** How much there is to measure, and for how long. */
export interface SceneOptions {
  readonly nodes: number;
  /** How long each measurement of a rate lasts. */
  readonly seconds: number;
  /** How many watches are held at once, one measurement each. */
  readonly watchers: readonly number[];
  /** Lines in each log store. */
  readonly logLines: number;
}

export interface Scene {
  readonly options: SceneOptions;
  readonly machine: Machine;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** The process of kube-apiserver. */
  readonly kubePid: number;
  /** Its etcd's. */
  readonly etcdPid: number;
  /** Of the controllers, which follow every object too. */
  readonly controllersPid: number;
  /** For a cluster administrator. */
  readonly kubeconfig: string;
  /** Of the servers: paths of PEM files. */
  readonly serving: PairFiles;
  readonly load: LoadGenerator;
  /** The registered server. */
  readonly server: ServerProcess;
  /** kube-apiserver, as the caller of the bench; its path for ours is the one through the aggregator. */
  readonly kube: Target;
  /** Our server, as the same caller, without the aggregator between. */
  readonly direct: Target;
  /** kube-apiserver, as somebody who may write. */
  readonly writer: Target;
  /** The same for whoever sets something up. */
  readonly cluster: Client;
  /** Nodes have names in this order. */
  nodeName(index: number): string;
  /** One more server on the same cluster, on a port of its own and registered nowhere. */
  another(options?: AnotherOptions): Promise<ServerProcess>;
}

export interface AnotherOptions extends Pick<ServerProcessOptions, 'listening' | 'configuration'> {
  /** Whether it can be asked for the delays of its event loop: looking wakes it a thousand times a second. */
  readonly probed?: boolean;
}

/** Runs `work` on a scene, and removes it afterwards. */
export async function withScene(
  options: SceneOptions,
  machine: Machine,
  progress: Progress,
  signal: AbortSignal,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  await inWorkFolder('bench', progress, async (dir, defer) => {
    const clients = await buildClients({ env: process.env, signal, progress });
    const trust = await prepareTokenTrust(join(dir, 'authentication-configuration.yaml'));
    const controlPlane = await startControlPlane({
      dir: join(dir, 'control-plane'),
      extraApiserverFlags: [trust.flag],
      signal,
      progress,
    });
    defer(() => controlPlane.stop());
    progress(`creating ${options.nodes} nodes`);
    await createNodes(controlPlane, options.nodes, { signal, progress });

    const files = await certificates(controlPlane, dir);
    const cluster = { kubectl: controlPlane.kubectl, kubeconfig: controlPlane.kubeconfig };
    await apply(cluster, accessOfCaller(), signal);
    const port = await freePort();
    progress('starting and registering the server');
    await grant(cluster, port, signal);
    const kubeconfig = await controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
    const start = async (
      port: number,
      name: string,
      { probed = false, ...options }: AnotherOptions = {},
    ): Promise<ServerProcess> => {
      const server = await ServerProcess.start({
        dir: join(dir, name),
        kubeconfig,
        port,
        certificate: { ...files.serving, ca: files.ca },
        imports: probed ? [PROBE] : [],
        signal,
        ...options,
      });
      defer(() => server.stop());
      return server;
    };
    let others = 0;
    const server = await start(port, 'server');
    await register(cluster, port, signal);
    await available(cluster, signal);
    const issuer = `${server.url}/oauth`;
    await trust.establish({ issuer, caFile: files.ca, audience: 'platform' });

    const load = LoadGenerator.start(clients.load, machine.loadCore, signal);
    defer(() => load.stop());
    const caller = { ca: files.ca, ...files.caller };
    await work({
      options,
      machine,
      progress,
      signal,
      kubePid: controlPlane.apiserver.pid ?? 0,
      etcdPid: controlPlane.etcd.pid ?? 0,
      controllersPid: controlPlane.controllerManager?.pid ?? 0,
      kubeconfig: controlPlane.kubeconfig,
      serving: files.serving,
      load,
      server,
      kube: { server: controlPlane.url, ...caller },
      direct: { server: server.url, ...caller },
      writer: { server: controlPlane.url, ca: files.ca, ...files.writer },
      cluster: controlPlane.client,
      nodeName,
      another: async (options) => start(await freePort(), `another-${++others}`, options),
    });
  });
}

async function certificates({ pki, ca }: ControlPlane, dir: string) {
  const names = { dns: ['localhost', 'ks-apiserver.platform-system.svc'], ip: ['127.0.0.1'] };
  return {
    ca: await pemFile(dir, 'ca.crt', ca),
    serving: await pairFiles(dir, 'serving', pki.cluster.issueServer({ cn: 'ks-apiserver' }, names)),
    caller: await pairFiles(dir, 'caller', pki.issueClient({ cn: CALLER })),
    writer: await pairFiles(dir, 'writer', pki.issueClient({ cn: 'bench-writer', o: ['system:masters'] })),
  };
}

function accessOfCaller(): string {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: CALLER },
    rules: [
      { apiGroups: ['', 'resources.platform.io'], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    ],
  };
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: CALLER },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: CALLER },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: CALLER }],
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [role, binding] });
}
