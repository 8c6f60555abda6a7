// Environment of the soak test: a control plane with simulated nodes and pods, and two replicas of the server. One
// replica reads pod logs and accelerates the gateway; the other reads VictoriaLogs and forwards everything.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TokenClient } from '../bench/measuring/token-client.ts';
import { addUsers, PASSWORD, untilSynced } from '../bench/scene/crowd.ts';
import { servingFiles } from '../bench/scene/pem-files.ts';
import { withControlPlane } from '../bench/scene/temporary-control-plane.ts';
import { Client } from '../control-plane/client.ts';
import { available, grant, register, SERVICE_ACCOUNT } from '../extension/registration.ts';
import { ServerProcess } from '../extension/server-process.ts';
import { logData } from '../log-data/log-data.ts';
import { loadVictoriaLogs } from '../log-stores/load-victorialogs.ts';
import { startVictoriaLogs } from '../log-stores/victorialogs.ts';
import { interactive } from '../simulation/interactive.ts';
import { podLogs, startKwok } from '../simulation/kwok.ts';
import { growPodLogs } from '../simulation/pod-logs.ts';
import { freePort } from '../system/ports.ts';
import { until } from '../system/until.ts';
import type { Progress } from '../terminal/progress.ts';

export const NODES = 40;
const PODS = 60;
const LOG_INTERVAL_MS = 2_000;
export const CALLER = 'soak';
export const TENANT = 'soak-tenant';
const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const RBAC = `/apis/${RBAC_GROUP}/v1`;
/** API group of the custom resources. */
export const GROUP = 'soak.example.com';

export interface Replica {
  readonly name: 'pod logs' | 'victorialogs';
  readonly server: ServerProcess;
  /** Client of the cluster administrator. */
  readonly client: Client;
  /** Client without credentials. */
  readonly anonymous: Client;
  readonly tokens: TokenClient;
}

export interface Environment {
  readonly replicas: readonly Replica[];
  /** Client of kube-apiserver, as the cluster administrator. */
  readonly cluster: Client;
  /** PEM, of all servers. */
  readonly ca: string;
  /** Users that sign in and out. */
  readonly users: readonly string[];
  /** Main processes, for their CPU time. */
  readonly pids: ReadonlyMap<string, number>;
  /** Resolves if a program of the control plane exits. */
  readonly failure: Promise<Error>;
}

/** Runs the work with the environment, and removes it afterwards. `signal` aborts the start and the work. */
export async function withEnvironment<Result>(
  progress: Progress,
  signal: AbortSignal,
  work: (environment: Environment) => Promise<Result>,
): Promise<Result> {
  return withControlPlane('soak', { signal, progress }, async ({ dir, defer, controlPlane, trust }) => {
    const echo = createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    defer(() => echo.close());
    await startKwok(controlPlane, {
      nodes: NODES,
      pods: PODS,
      objects: interactive({ echo: (echo.address() as AddressInfo).port }),
      signal,
      progress,
    });
    const store = await startVictoriaLogs({ dir: join(dir, 'log-store'), signal, progress });
    defer(() => store.stop());
    const growth = new AbortController();
    defer(() => growth.abort());
    const logs = { signal: growth.signal, intervalMs: LOG_INTERVAL_MS, rotateEvery: 60 };
    Promise.all([
      growPodLogs(podLogs(controlPlane.folder), logs),
      collectLogs(store.url, growth.signal),
    ]).catch((error: unknown) => {
      if (!growth.signal.aborted) progress(`the logs stopped growing: ${String(error)}`);
    });

    progress('starting two replicas');
    const files = await servingFiles(controlPlane, dir);
    const ports = [await freePort(), await freePort()] as const;
    await grant(controlPlane, ports[0], signal);
    const kubeconfig = await controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
    const admin = await controlPlane.pki.issueClient({ cn: 'soak-admin', o: ['system:masters'] });
    const issuer = `https://127.0.0.1:${ports[0]}/oauth`;
    const replica = async (
      name: Replica['name'],
      port: number,
      configuration: Readonly<Record<string, unknown>>,
    ): Promise<Replica> => {
      const server = await ServerProcess.start({
        dir: join(dir, name),
        kubeconfig,
        port,
        certificate: files,
        configuration: { oauth: { issuer }, ...configuration },
        signal,
      });
      defer(() => server.stop());
      const { ca } = controlPlane;
      const client = new Client(server.url, { ca, pair: admin });
      const anonymous = new Client(server.url, { ca });
      const tokens = await TokenClient.connect(server.url, files.ca, 4);
      for (const each of [client, anonymous, tokens]) defer(() => each.close());
      return { name, server, client, anonymous, tokens };
    };
    const first = await replica('pod logs', ports[0], { gateway: { acceleration: true } });
    await register(controlPlane, ports[0], signal);
    await available(controlPlane, signal);
    await trust.establish({ issuer, caFile: files.ca, audience: 'platform' });
    const second = await replica('victorialogs', ports[1], {
      logging: { store: 'victorialogs', victorialogs: { url: store.url } },
    });
    const cluster = controlPlane.client;
    const users = Array.from({ length: 20 }, (_, index) => `soak-user-${index}`);
    await addUsers({ cluster }, [...users, TENANT, CALLER]);
    await bindRoles(cluster);
    for (const each of [first, second]) await untilTrusted(each, signal);
    const pids = new Map([
      [first.name, first.server.pid],
      [second.name, second.server.pid],
      ['kube-apiserver', controlPlane.apiserver.pid ?? 0],
      ['etcd', controlPlane.etcd.pid ?? 0],
      ['clients', process.pid],
    ]);
    const { ca, failure } = controlPlane;
    return work({ replicas: [first, second], cluster, ca, users, pids, failure });
  });
}

/** Resolves when the replica knows the caller, and kube-apiserver accepts its tokens. */
async function untilTrusted({ tokens, anonymous }: Replica, signal: AbortSignal): Promise<void> {
  await untilSynced(tokens, signal, CALLER);
  const { access_token: token } = await tokens.signIn(CALLER, PASSWORD);
  const isAccepted = async (): Promise<boolean> =>
    (await anonymous.send('/api/v1/namespaces/shop', { token })).status === 200;
  await until(isAccepted, { signal, timeoutMs: 120_000, pollMs: 500 });
}

/** Sends lines to VictoriaLogs until the signal aborts. */
async function collectLogs(store: string, signal: AbortSignal): Promise<void> {
  const records = [...logData({ lines: 500, namespaces: 6 }).currentRecords()].slice(0, 40);
  while (!signal.aborted) {
    const time = new Date().toISOString().replace('Z', '000000Z');
    const current = records.map((record) => ({ ...record, time }));
    await loadVictoriaLogs(store, current, { signal });
    await delay(LOG_INTERVAL_MS, undefined, { signal });
  }
}

async function bindRoles(cluster: Client): Promise<void> {
  const create = (path: string, name: string, body: object): Promise<unknown> =>
    cluster.expect(`${RBAC}/${path}`, { method: 'POST', body: { metadata: { name }, ...body } }, [201]);
  await create('clusterrolebindings', CALLER, bindingOf(CALLER, 'cluster-admin'));
  for (const namespace of ['shop', 'payments'])
    await create(`namespaces/${namespace}/rolebindings`, TENANT, bindingOf(TENANT, 'view'));
  // The server reads custom resources with the ClusterRole `view`.
  const metadata = { name: GROUP, labels: { [`${RBAC_GROUP}/aggregate-to-view`]: 'true' } };
  const rules = [{ apiGroups: [GROUP], resources: ['*'], verbs: ['get', 'list', 'watch'] }];
  await create('clusterroles', GROUP, { metadata, rules });
}

/** A binding of a ClusterRole, without metadata. */
export function bindingOf(user: string, role: string): object {
  return {
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: RBAC_GROUP, kind: 'User', name: user }],
  };
}
