// Benchmark: reads of pods that the gateway serves from its cache. The baseline is the same client with the same token
// at kube-apiserver itself.
import { setTimeout as delay } from 'node:timers/promises';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { apply } from '../../extension/registration.ts';
import { until } from '../../system/until.ts';
import { clientOf, type Target, withToken } from '../measuring/load-generator.ts';
import { cpuSeconds, peakWhile, residentMB } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { createManyObjects, namespaceName, podName } from '../scene/many-objects.ts';
import { CALLER, type Scene } from '../scene/scene.ts';
import { serviceAccountToken } from './get.ts';
import { atLeast, atMost, megabytes, milliseconds, type Row } from './row.ts';

const PODS = '/api/v1/pods';
const ANY = 'resourceVersion=0';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const ROUNDS = 2;
const CROWDS = [50, 500] as const;
const WATCHERS = 500;
const CHANGES = 10;

interface Side {
  readonly target: Target;
  readonly pid: number;
}
type Sides = Readonly<Record<'peer' | 'ours', Side>>;

export async function accelerationRows(scene: Scene): Promise<readonly Row[]> {
  await apply({ kubectl: scene.kubectl, kubeconfig: scene.kubeconfig }, PERMISSIONS, scene.signal);
  await createManyObjects(scene);
  const server = await scene.another({
    configuration: {
      // All clients of the bench are one caller.
      gateway: { acceleration: true },
      requests: { seats: 10_000 },
      resources: { preload: ['pods'] },
    },
  });
  const token = await serviceAccountToken(scene.cluster);
  const sides: Sides = {
    peer: { target: withToken(scene.kube, token), pid: scene.kubePid },
    ours: { target: withToken({ ...scene.direct, server: server.url }, token), pid: server.pid },
  };
  scene.progress('the first list of all pods');
  await hits(scene, sides, `${PODS}?limit=1&${ANY}&fieldSelector=metadata.name=none`);
  const rows = [
    ...(await wholeLists(scene, sides)),
    ...(await wholeLists(scene, sides, 'Table', TABLE)),
    ...(await crowds(scene, sides)),
    ...(await changes(scene, sides)),
  ];
  await server.stop();
  return rows;
}

/** Lists of all pods, compressed, as client-go requests them, or as Tables, as `kubectl get` does. */
async function wholeLists(
  scene: Scene,
  sides: Sides,
  form: 'list' | 'Table' = 'list',
  accept = 'application/json',
): Promise<readonly Row[]> {
  scene.progress(`lists of all pods (${form})`);
  const list =
    ({ target, pid }: Side) =>
    async () => {
      const before = await cpuSeconds(pid);
      const more = { 'Accept-Encoding': 'gzip', Accept: accept };
      const gzip = { ...target, headers: { ...target.headers, ...more } };
      const job = { target: gzip, paths: [`${PODS}?${ANY}`], connections: 1, requests: 1 };
      const { latencyMs } = await scene.load.requests(job);
      await delay(500);
      return { ms: latencyMs.max, cpu: (await cpuSeconds(pid)) - before };
    };
  const seen = await interleaved(ROUNDS, { peer: list(sides.peer), ours: list(sides.ours) });
  const ms = (side: 'peer' | 'ours'): number => median(seen[side].map((round) => round.ms));
  const cpu = (side: 'peer' | 'ours'): number => median(seen[side].map((round) => round.cpu * 1000));
  const what = `acceleration: ${form} of ${scene.options.pods.toLocaleString('en')} pods, gzip`;
  // The rows of a Table are encoded and compressed for each request.
  const [time, work] = form === 'list' ? [0.2, 0.1] : [0.75, 0.75];
  return [
    atMost(`${what}: time`, ms('peer'), ms('ours'), time, milliseconds),
    atMost(`${what}: CPU of the serving server`, cpu('peer'), cpu('ours'), work, milliseconds),
  ];
}

/** Many informers start at once, each with the pods of one namespace. */
async function crowds(scene: Scene, sides: Sides): Promise<readonly Row[]> {
  const path = `/api/v1/namespaces/${namespaceName(0)}/pods?${ANY}`;
  await hits(scene, sides, path);
  const rows: Row[] = [];
  for (const count of CROWDS) {
    scene.progress(`${count} informers at once`);
    const start =
      ({ target, pid }: Side) =>
      async () => {
        const [own, kube] = [await cpuSeconds(pid), await cpuSeconds(scene.kubePid)];
        const memory = await residentMB(pid);
        const job = { target, paths: [path], connections: count, requests: count };
        const [{ seconds }, peak] = await peakWhile(pid, () => scene.load.requests(job));
        return {
          ms: seconds * 1000,
          cpu: ((await cpuSeconds(pid)) - own) * 1000,
          kube: ((await cpuSeconds(scene.kubePid)) - kube) * 1000,
          growth: peak - memory,
        };
      };
    const seen = await interleaved(ROUNDS, { peer: start(sides.peer), ours: start(sides.ours) });
    const figure = (side: 'peer' | 'ours', name: 'ms' | 'cpu' | 'kube' | 'growth'): number =>
      median(seen[side].map((round) => round[name]));
    const what = `acceleration: ${count} lists of one namespace at once`;
    rows.push(atMost(`${what}: time`, figure('peer', 'ms'), figure('ours', 'ms'), 0.5, milliseconds), {
      ...atMost(
        `${what}: CPU of kube-apiserver`,
        figure('peer', 'kube'),
        figure('ours', 'kube'),
        0.1,
        milliseconds,
      ),
      note: `ours takes ${milliseconds(figure('ours', 'cpu'))} itself; its memory grows by ${megabytes(figure('ours', 'growth') * 1e6)}, that of kube-apiserver by ${megabytes(figure('peer', 'growth') * 1e6)}`,
    });
  }
  return rows;
}

/** A change until the last of many watchers has it. */
async function changes(scene: Scene, sides: Sides): Promise<readonly Row[]> {
  scene.progress(`${WATCHERS} watchers`);
  const { load, writer, signal } = scene;
  const { namespace, name } = podName(0);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const path = `${pods}/${name}`;
  const write = { target: writer, path, pauseMs: 50, timeoutMs: 60_000 };
  const arrivals = (side: 'peer' | 'ours') => async () => {
    await load.change({ ...write, ids: [], changes: 1 });
    const version = text(recordIn(record(await scene.cluster.get(path)), 'metadata')['resourceVersion']);
    await hits(scene, sides, `${pods}?resourceVersion=${version}`);
    await load.openWatches(side, sides[side].target, `${pods}?watch=1&resourceVersion=${version}`, WATCHERS);
    await load.change({ ...write, ids: [side], changes: 3 });
    const { groups } = await load.change({ ...write, ids: [side], changes: CHANGES });
    const { lost } = await load.closeWatches(side);
    if (lost > 0) throw new Error(`${lost} of ${WATCHERS} watches ended by themselves`);
    await delay(500, undefined, { signal });
    return groups[side]?.lastMs ?? [];
  };
  const seen = await interleaved(ROUNDS, { peer: arrivals('peer'), ours: arrivals('ours') });
  const [peer, ours] = [median(seen.peer.flat()), median(seen.ours.flat())];
  return [
    atLeast(
      `acceleration: changes at the last of ${WATCHERS} watchers`,
      1000 / peer,
      1000 / ours,
      1,
      (rate) => milliseconds(1000 / rate),
    ),
  ];
}

/** Resolves when the gateway serves the path from its cache. */
async function hits({ signal }: Scene, { ours: { target } }: Sides, path: string): Promise<void> {
  using client = await clientOf(target);
  const { headers = {} } = target;
  const isHit = async (): Promise<boolean> => {
    const response = await client.open(path, { headers });
    response.resume();
    return String(response.headers['cache-status']).includes('; hit');
  };
  await until(isHit, { signal, timeoutMs: 300_000, pollMs: 500 });
}

const PERMISSIONS = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'bench-acceleration' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: CALLER, namespace: 'default' }],
    },
  ],
});
