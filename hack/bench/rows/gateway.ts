// Benchmark: requests for the API of kube-apiserver through the gateway. The baseline is the same client with the same
// token at kube-apiserver itself.
import { readFile } from 'node:fs/promises';
import { Client } from '../../control-plane/client.ts';
import { apply } from '../../extension/registration.ts';
import { until } from '../../system/until.ts';
import type { Target } from '../measuring/load-generator.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { AT_A_TIME, repeat } from '../scene/crowd.ts';
import { CALLER, CORE_NODES, type Scene } from '../scene/scene.ts';
import { execRows } from './gateway-exec.ts';
import { memoryRow } from './gateway-memory.ts';
import { added, CONFIG_MAPS, CONNECTIONS, gets, NAME, sidesOf, WARM_UP_SECONDS } from './gateway-sides.ts';
import { watchRows } from './gateway-watch.ts';
import { serviceAccountToken } from './get.ts';
import { atLeast, perSecond, type Row } from './row.ts';
import { accessToken } from './tokens.ts';

const ROUNDS = 5;

const GET_GOAL = 0.9;
const LIST_GOAL = 0.7;
const CREATE_GOAL = 0.85;

/** Reason for missed goals. Measured with a proxy that copies bytes, and with one that only uses undici. */
const SHARED_CORES =
  'on a machine with two cores, the gateway takes its CPU from kube-apiserver. Nearly half of it is TLS and sockets: a Node program that only copies bytes between two TLS connections takes 160 µs for a get, a bare proxy with undici 361 µs, the gateway 385 µs';

export async function gatewayRows(scene: Scene): Promise<readonly Row[]> {
  await apply({ kubectl: scene.kubectl, kubeconfig: scene.kubeconfig }, permissions(), scene.signal);
  const own = await accessToken(scene);
  const account = await serviceAccountToken(scene.cluster);
  await accepted(scene, own);
  scene.progress('warming both sides up');
  for (const { target } of Object.values(sidesOf(scene, own))) {
    await gets(scene, target, CONNECTIONS, WARM_UP_SECONDS);
  }
  return [
    ...(await getRows(scene, { own, account })),
    ...(await listRows(scene, own)),
    ...(await createRows(scene, own)),
    ...(await watchRows(scene, own)),
    ...(await execRows(scene, sidesOf(scene, own))),
    await memoryRow(scene, sidesOf(scene, own).ours.target),
  ];
}

/** Measures both tokens alternately, so that disturbances affect the rows of both. */
async function getRows(
  scene: Scene,
  tokens: { readonly own: string; readonly account: string },
): Promise<readonly Row[]> {
  scene.progress('gets');
  const { server } = scene;
  const [own, account] = [sidesOf(scene, tokens.own), sidesOf(scene, tokens.account)];
  const measured = <Result>(measure: (target: Target) => Promise<Result>) =>
    interleaved(ROUNDS, {
      ownPeer: () => measure(own.peer.target),
      ownOurs: () => measure(own.ours.target),
      accountPeer: () => measure(account.peer.target),
      accountOurs: () => measure(account.ours.target),
    });
  const seen = await measured(async (target) => {
    const before = await cpuSeconds(server.pid);
    const { rate, requests } = await gets(scene, target, CONNECTIONS);
    return { rate, cpu: ((await cpuSeconds(server.pid)) - before) / requests };
  });
  const latencies = await measured(async (target) => (await gets(scene, target, 1)).latencyMs.p50);
  return (['own', 'account'] as const).flatMap((token) => {
    const credential = token === 'own' ? 'a token of this server' : 'a ServiceAccount token';
    const [peer, ours] = [seen[`${token}Peer`], seen[`${token}Ours`]];
    const rate = (rounds: typeof ours): number => median(rounds.map((round) => round.rate));
    const cpu = median(ours.map((round) => round.cpu)) * 1e6;
    const latency = { peer: latencies[`${token}Peer`], ours: latencies[`${token}Ours`] };
    return [
      {
        ...atLeast(`gateway: get one node with ${credential}`, rate(peer), rate(ours), GET_GOAL, perSecond),
        note: `${CONNECTIONS} connections; all servers and the load generator share the cores; the gateway takes ${cpu.toFixed(0)} µs of CPU for each request`,
        shortfall: SHARED_CORES,
      },
      { ...added(`gateway: latency of a get with ${credential}`, latency), shortfall: SHARED_CORES },
    ];
  });
}

async function listRows(scene: Scene, token: string): Promise<readonly Row[]> {
  scene.progress('lists');
  const list =
    ({ target }: { target: Target }) =>
    async () => {
      const identity = { ...target, headers: { ...target.headers, 'Accept-Encoding': 'identity' } };
      const paths = [`${CORE_NODES}?resourceVersion=0`];
      return (await scene.load.requests({ target: identity, paths, connections: 1, requests: 3 })).rate;
    };
  const sides = sidesOf(scene, token);
  const seen = await interleaved(ROUNDS, { peer: list(sides.peer), ours: list(sides.ours) });
  const work = `gateway: list ${scene.options.nodes} nodes`;
  const rate = (value: number): string => `${value.toFixed(1)}/s`;
  return [atLeast(work, median(seen.peer), median(seen.ours), LIST_GOAL, rate)];
}

/** Creates ConfigMaps, and deletes them after the measurement. */
async function createRows(scene: Scene, token: string): Promise<readonly Row[]> {
  scene.progress('creates');
  const ca = await readFile(scene.direct.ca, 'utf8');
  const clients = [scene.kube, scene.direct].map(({ server }) => new Client(server, { ca }, AT_A_TIME));
  const create = (client: Client | undefined, seconds: number) => async () => {
    const before = await cpuSeconds(scene.server.pid);
    const done = await repeat(seconds, async () => {
      const metadata = { generateName: 'bench-', labels: { bench: 'gateway' } };
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value' } };
      await client?.expect(CONFIG_MAPS, { method: 'POST', body, token }, [201]);
    });
    const cpu = (await cpuSeconds(scene.server.pid)) - before;
    await scene.cluster.expect(`${CONFIG_MAPS}?labelSelector=bench%3Dgateway`, { method: 'DELETE' }, [200]);
    return { rate: done / seconds, cpu: cpu / done };
  };
  try {
    for (const client of clients) await create(client, WARM_UP_SECONDS)();
    const { seconds } = scene.options;
    const seen = await interleaved(3, {
      peer: create(clients[0], seconds),
      ours: create(clients[1], seconds),
    });
    const rate = (side: 'peer' | 'ours'): number => median(seen[side].map((round) => round.rate));
    const cpu = median(seen.ours.map((round) => round.cpu)) * 1e6;
    return [
      {
        ...atLeast('gateway: create a ConfigMap', rate('peer'), rate('ours'), CREATE_GOAL, perSecond),
        note: `${AT_A_TIME} connections; the gateway takes ${cpu.toFixed(0)} µs of CPU for each request`,
        shortfall: SHARED_CORES,
      },
    ];
  } finally {
    for (const client of clients) client.close();
  }
}

/** Resolves when kube-apiserver accepts the token: it loads the keys of the issuer within ten seconds. */
async function accepted(scene: Scene, token: string): Promise<void> {
  const { peer } = sidesOf(scene, token);
  const isAccepted = (): Promise<boolean> => gets(scene, peer.target, 1, 1).then(() => true);
  await until(isAccepted, { signal: scene.signal, timeoutMs: 60_000, pollMs: 500 });
}

function permissions(): string {
  const name = NAME;
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] },
    ],
  };
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: CALLER }],
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [role, binding] });
}
