// Starts the benchmark environment: a control plane with nodes, a registered ks-apiserver, and the load generator.
import { join } from 'node:path';
import { buildClients } from '../../clients/build.ts';
import type { Client } from '../../control-plane/client.ts';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import type { Etcd } from '../../control-plane/etcd.ts';
import type { PairFiles } from '../../control-plane/pki.ts';
import { apply, available, grant, register, SERVICE_ACCOUNT } from '../../extension/registration.ts';
import { ServerProcess, type ServerProcessOptions } from '../../extension/server-process.ts';
import { createNodes, nodeName } from '../../simulation/realistic-node.ts';
import { freePort } from '../../system/ports.ts';
import type { Progress } from '../../terminal/progress.ts';
import { LoadGenerator, type Target } from '../measuring/load-generator.ts';
import type { Machine } from '../measuring/machine.ts';
import { pairFiles, servingFiles } from './pem-files.ts';
import { withControlPlane } from './temporary-control-plane.ts';

export const CORE_NODES = '/api/v1/nodes';
export const OUR_NODES = '/apis/resources.platform.io/v1alpha3/nodes';

const PROBE = join(import.meta.dirname, '../measuring/loop-probe.ts');

/** A user, and a ServiceAccount in `default`, that is neither cluster-admin nor in system:masters. */
export const CALLER = 'bench';
/** A user without permissions, unless a row grants some. */
export const TENANT = 'bench-tenant';

/** Sizes and durations of the measurements. */
export interface SceneOptions {
  readonly nodes: number;
  /** Duration of each measurement of a rate, in seconds. */
  readonly seconds: number;
  /** Numbers of concurrent watches, one measurement each. */
  readonly watchers: readonly number[];
  /** Number of lines in each log store. */
  readonly logLines: number;
  readonly pods: number;
  readonly namespaces: number;
}

export interface Scene {
  readonly options: SceneOptions;
  readonly machine: Machine;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** PID of kube-apiserver. */
  readonly kubePid: number;
  /** PID of etcd. */
  readonly etcdPid: number;
  /** For objects that kube-apiserver would create too slowly. */
  readonly etcd: Pick<Etcd, 'put'>;
  /** PID of the controllers, which watch every object too. */
  readonly controllersPid: number;
  readonly kubectl: string;
  /** Kubeconfig of a cluster administrator. */
  readonly kubeconfig: string;
  /** Serving certificate of the servers: paths of PEM files. */
  readonly serving: PairFiles;
  readonly load: LoadGenerator;
  /** The registered server. */
  readonly server: ServerProcess;
  /** kube-apiserver, as the caller of the bench; also for our group through the aggregator. */
  readonly kube: Target;
  /** Our server directly, as the same caller. */
  readonly direct: Target;
  /** kube-apiserver, as a caller with write permission. */
  readonly writer: Target;
  /** Certificate of TENANT: paths of PEM files. */
  readonly tenant: PairFiles;
  /** Administrator client for the setup. */
  readonly cluster: Client;
  /** Name of the node with this index. */
  nodeName(index: number): string;
  /** Starts another, unregistered server on the same cluster. */
  another(options?: AnotherOptions): Promise<ServerProcess>;
}

export interface AnotherOptions extends Pick<ServerProcessOptions, 'listening' | 'configuration'> {
  /** Whether it reports event-loop delays; the probe wakes it a thousand times a second. */
  readonly probed?: boolean;
}

/** Runs `work` with the environment, and removes it afterwards. */
export async function withScene(
  options: SceneOptions,
  machine: Machine,
  progress: Progress,
  signal: AbortSignal,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  await withControlPlane('bench', { signal, progress }, async ({ dir, defer, controlPlane, trust }) => {
    const clients = await buildClients({ env: process.env, signal, progress });
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
        certificate: files.serving,
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
    await trust.establish({ issuer, caFile: files.serving.ca, audience: 'platform' });

    const load = LoadGenerator.start(clients.load, machine.loadCore, signal);
    defer(() => load.stop());
    const caller = { ca: files.serving.ca, ...files.caller };
    await work({
      options,
      machine,
      progress,
      signal,
      kubePid: controlPlane.apiserver.pid ?? 0,
      etcdPid: controlPlane.etcd.pid ?? 0,
      etcd: controlPlane.etcd,
      controllersPid: controlPlane.controllerManager?.pid ?? 0,
      kubectl: controlPlane.kubectl,
      kubeconfig: controlPlane.kubeconfig,
      serving: files.serving,
      load,
      server,
      kube: { server: controlPlane.url, ...caller },
      direct: { server: server.url, ...caller },
      writer: { server: controlPlane.url, ca: files.serving.ca, ...files.writer },
      tenant: files.tenant,
      cluster: controlPlane.client,
      nodeName,
      another: async (options) => start(await freePort(), `another-${++others}`, options),
    });
  });
}

async function certificates(controlPlane: ControlPlane, dir: string) {
  const { pki } = controlPlane;
  return {
    serving: await servingFiles(controlPlane, dir),
    caller: await pairFiles(dir, 'caller', pki.issueClient({ cn: CALLER })),
    tenant: await pairFiles(dir, 'tenant', pki.issueClient({ cn: TENANT })),
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
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: CALLER },
      { kind: 'ServiceAccount', name: CALLER, namespace: 'default' },
    ],
  };
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: CALLER, namespace: 'default' },
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [role, binding, account] });
}
