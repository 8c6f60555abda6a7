// Benchmarks of lists and search under `/kapis`, with many pods and namespaces. The baseline of a
// page is a list of one namespace by kube-apiserver with `limit=10`, which is not sorted.
import { setTimeout as delay } from 'node:timers/promises';
import { record } from '../../../apis/reading/unknown-value.ts';
import type { ServerProcess } from '../../extension/server-process.ts';
import type { Target } from '../measuring/load-generator.ts';
import type { LoopDelays } from '../measuring/loop-probe.ts';
import { yielding } from '../measuring/machine.ts';
import { residentMB } from '../measuring/process-usage.ts';
import { readBody } from '../scene/comparison.ts';
import {
  createManyObjects,
  namespaceName,
  POD_NAMESPACES,
  TENANT_NAMESPACES,
  tenantNamespaces,
} from '../scene/many-objects.ts';
import type { Scene } from '../scene/scene.ts';
import { eachOnOneCore, type Figures, onOneCore } from './one-core.ts';
import { atLeast, below, megabytes, milliseconds, perSecond, type Row } from './row.ts';

const PLATFORM = '/kapis/resources.platform.io/v1alpha3';
const PAGE = 10;
const WATCH_LIST =
  '/api/v1/pods?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
/** The kinds of the search. Some of them have no objects. */
const KINDS = [
  'pods',
  'nodes',
  'namespaces',
  'configmaps',
  'serviceaccounts',
  'services',
  'persistentvolumeclaims',
  'deployments.apps',
  'replicasets.apps',
  'statefulsets.apps',
  'jobs.batch',
  'ingresses.networking.k8s.io',
] as const;
const FIRST_LIST_MS = 300_000;
/** Time before a measurement of memory, in ms. */
const SETTLE_MS = 10_000;

interface Side {
  readonly server: ServerProcess;
  readonly caller: Target;
  readonly tenant: Target;
}

export async function resourceRows(scene: Scene): Promise<readonly Row[]> {
  await createManyObjects(scene);
  const server = await scene.another({
    probed: true,
  });
  const caller = { ...scene.direct, server: server.url };
  const side = { server, caller, tenant: { ...caller, ...scene.tenant } };
  const rows = [
    ...(await firstList(scene, side)),
    ...(await blocks(scene, side)),
    ...(await pages(scene, side)),
    ...(await search(scene, side)),
  ];
  await server.stop();
  return rows;
}

/** Requests a path once; returns the time in ms. */
async function once({ load }: Scene, target: Target, path: string): Promise<number> {
  return (await load.requests({ target, paths: [path], connections: 1, requests: 1 })).latencyMs.max;
}

/** Requests a path until it succeeds, because a large kind can load longer than one request waits; returns the time in ms. */
async function firstSuccess(scene: Scene, target: Target, path: string): Promise<number> {
  const began = performance.now();
  for (;;) {
    try {
      await once(scene, target, path);
      return performance.now() - began;
    } catch (error) {
      if (performance.now() - began > FIRST_LIST_MS) throw error;
    }
  }
}

async function firstList(scene: Scene, { server, caller, tenant }: Side): Promise<readonly Row[]> {
  const { load, kube, options, progress } = scene;
  const idle = await settledMB(scene, server);
  progress('the first list of all pods');
  const peer = await load.sync(kube, WATCH_LIST);
  if (peer.objects < options.pods) throw new Error(`the streaming list had ${peer.objects} pods`);
  await server.ask('loop-delays');
  // Otherwise, the longest block is a garbage collection whose threads wait for kube-apiserver.
  const cluster = [scene.kubePid, scene.etcdPid, scene.controllersPid];
  const list = (): Promise<number> => firstSuccess(scene, caller, `${PLATFORM}/pods?limit=1&sortBy=name`);
  const synced = await yielding(cluster, scene.machine, list);
  const { maxMs } = (await server.ask('loop-delays')) as LoopDelays;
  const tenantMs = await once(scene, tenant, `${PLATFORM}/pods?limit=${PAGE}`);
  const uncollected = (await residentMB(server.pid)) - idle;
  const memory = (await settledMB(scene, server)) - idle;
  const json = peer.bytes / 1e6;
  const share = memory / json;
  const pods = `${peer.objects.toLocaleString('en')} pods`;
  return [
    {
      ...below('resources: longest block of the event loop in the first list', maxMs, 50, milliseconds),
      note: `the list takes ${milliseconds(synced)}, with a sorted page, while the cluster yields the cores to the server; a WatchList of kube-apiserver ${milliseconds(peer.ms)}`,
    },
    {
      work: `resources: resident memory of ${pods}`,
      against: 'the size of the JSON',
      peer: megabytes(peer.bytes),
      ours: megabytes(memory * 1e6),
      ratio: `${share.toFixed(2)} ×`,
      goal: '≤ 0.5 ×',
      met: share <= 0.5,
      note: `ours: growth, with a garbage collection before each measurement; ${megabytes(uncollected * 1e6)} before the last collection`,
    },
    {
      ...below('resources: first page of a tenant', tenantMs, 50, milliseconds),
      note: `${TENANT_NAMESPACES} of ${options.namespaces} namespaces, no permission is cached`,
    },
  ];
}

/** Resident memory after a pause and a garbage collection. */
async function settledMB({ signal }: Scene, server: ServerProcess): Promise<number> {
  await delay(SETTLE_MS, undefined, { signal });
  // The second collection frees what the finalizers of the first one released.
  for (const _ of [1, 2]) await server.ask('collect-garbage');
  return residentMB(server.pid);
}

async function blocks(scene: Scene, { server, caller }: Side): Promise<readonly Row[]> {
  scene.progress('sorting, counting and sending all pods');
  await server.ask('loop-delays');
  const first = await once(
    scene,
    caller,
    `${PLATFORM}/pods?limit=${PAGE}&sortBy=creationTimestamp&status=Pending&facets=namespace`,
  );
  const sort = (await server.ask('loop-delays')) as LoopDelays;
  const all = await once(scene, caller, `${PLATFORM}/pods?sortBy=creationTimestamp`);
  const sent = (await server.ask('loop-delays')) as LoopDelays;
  return [
    {
      ...below('resources: longest block in a first sort with facets', sort.maxMs, 50, milliseconds),
      note: `the request takes ${milliseconds(first)}`,
    },
    {
      ...below('resources: longest block in a list of all pods by time', sent.maxMs, 50, milliseconds),
      note: `the request takes ${milliseconds(all)}; neighbours in this order are in different compressed frames`,
    },
  ];
}

async function pages(scene: Scene, { server, caller, tenant }: Side): Promise<readonly Row[]> {
  const sorts = ['creationTimestamp', 'name', 'node'];
  const queries = Array.from({ length: 200 }, (_, i) => {
    const order = `sortBy=${sorts[i % sorts.length]}&ascending=${i % 2 === 0}`;
    return `limit=${PAGE}&page=${1 + (i % 5)}&${order}&status=Pending`;
  });
  const spaces = queries.map((_, i) => namespaceName((i * 7) % POD_NAMESPACES));
  const kube = { target: scene.kube, pid: scene.kubePid };
  const ours = { target: caller, pid: server.pid };
  const sides = {
    peer: { ...kube, paths: spaces.map((space) => `/api/v1/namespaces/${space}/pods?limit=${PAGE}`) },
    one: { ...ours, paths: queries.map((query, i) => `${PLATFORM}/namespaces/${spaces[i]}/pods?${query}`) },
    all: { ...ours, paths: queries.map((query) => `${PLATFORM}/pods?${query}`) },
    own: { ...ours, target: tenant, paths: queries.map((query) => `${PLATFORM}/pods?${query}`) },
    peerOwn: {
      ...kube,
      target: { ...scene.kube, ...scene.tenant },
      paths: tenantNamespaces().map((space) => `/api/v1/namespaces/${space}/pods?limit=${PAGE}`),
    },
  };
  await server.ask('stop');
  scene.progress('warming all sides up');
  for (const one of Object.values(sides)) await onOneCore(scene, one, 2);
  scene.progress('pages of pods');
  const seen = await eachOnOneCore(scene, sides);
  const rows = (of: string, peer: Figures, figures: Figures): Row[] => {
    const work = `resources: page of ${PAGE}, filtered, sorted, of ${of}`;
    return [
      {
        ...atLeast(work, peer.rate, figures.rate, 5, perSecond),
        note: `p99 ${milliseconds(peer.p99)}, ours ${milliseconds(figures.p99)}; the load generator uses ${(figures.generator * 100).toFixed(0)} % of its core; the peer's page is of one namespace and has no order`,
      },
    ];
  };
  const { pods, namespaces } = scene.options;
  return [
    ...rows(`one namespace of ${POD_NAMESPACES}`, seen.peer, seen.one),
    ...rows(`all ${pods} pods`, seen.peer, seen.all),
    ...rows(`the ${TENANT_NAMESPACES} of ${namespaces} namespaces of a tenant`, seen.peerOwn, seen.own),
  ];
}

async function search(scene: Scene, { server, caller }: Side): Promise<readonly Row[]> {
  scene.progress(`following ${KINDS.length} kinds`);
  let objects = 0;
  for (const kind of KINDS) {
    const list: unknown = JSON.parse(
      (await readBody(caller, `${PLATFORM}/${kind}?limit=1&sortBy=name`)).toString(),
    );
    objects += Number(record(list)['totalItems']);
  }
  const figures = async (text: string): Promise<Figures> => {
    const path = `${PLATFORM}/search?q=${text}&kinds=${KINDS.join()}`;
    return onOneCore(scene, { target: caller, pid: server.pid, paths: [path], connections: 1 });
  };
  await onOneCore(scene, { target: caller, pid: server.pid, paths: [`${PLATFORM}/search?q=x`] }, 2);
  const [found, missed] = [await figures('checkout'), await figures('zzzz')];
  return [found, missed].map((measured, i) => ({
    ...below(
      `resources: search over ${KINDS.length} kinds and ${objects.toLocaleString('en')} objects${i === 0 ? '' : ', no match'}`,
      1000 / measured.rate,
      20,
      milliseconds,
    ),
    note: `mean time; p99 ${milliseconds(measured.p99)}, CPU ${milliseconds(measured.cpu)}; kube-apiserver has no search: a client lists all objects`,
  }));
}
