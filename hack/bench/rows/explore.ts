// Benchmark of the page `/explore`: time until it is useful, its memory, and what open pages cost the requests of others.
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'puppeteer-core';
import { startChromium } from '../../browser/chromium.ts';
import { apply } from '../../extension/registration.ts';
import type { ServerProcess } from '../../extension/server-process.ts';
import { ExploreVisitor, type View } from '../measuring/explore-visitor.ts';
import { alone, besideServer } from '../measuring/machine.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { createManyObjects, namespaceName, podName } from '../scene/many-objects.ts';
import { CALLER, OUR_NODES, type Scene } from '../scene/scene.ts';
import { serviceAccountToken } from './get.ts';
import { type Figures, onOneCore } from './one-core.ts';
import { atLeast, below, megabytes, milliseconds, perSecond, type Row } from './row.ts';

const OVERVIEW = '/explore';
const LIST = '/explore/lists/pods?limit=10000';
const PAGE_OF_PODS = `/kapis/resources.platform.io/v1alpha3/namespaces/${namespaceName(0)}/pods?limit=10&sortBy=name`;
const PAINTS = 7;
const PAGES = 10;
/** Short and many, because the speed of a shared machine changes within seconds. */
const SLICES = 12;
const SLICE_SECONDS = 2;
/** Pause between two changes of a pod, in ms. */
const CHANGE_PAUSE_MS = 100;

interface Side {
  readonly scene: Scene;
  readonly browser: Browser;
  readonly server: ServerProcess;
  /** Of the user of the page. */
  readonly token: string;
}

export async function exploreRows(scene: Scene): Promise<readonly Row[]> {
  await apply({ kubectl: scene.kubectl, kubeconfig: scene.kubeconfig }, PERMISSIONS, scene.signal);
  await createManyObjects(scene);
  const options = {
    configuration: {
      oauth: { enabled: false },
      // All pages are one caller.
      requests: { seats: 10_000 },
    },
  };
  const server = await scene.another(options);
  const token = await serviceAccountToken(scene.cluster);
  await using chromium = await besideServer(scene.machine, () => startChromium());
  const side = { scene, browser: chromium.browser, server, token };
  scene.progress('the first page');
  // The server reads the files of the page, and lists the kinds of the overview.
  await (await open(side, OVERVIEW, 'overview'))[Symbol.asyncDispose]();
  const ownRows = [await firstPaint(side), ...(await memory(side))];
  const other = await scene.another(options);
  const shared = await costForOthers(side, other);
  await other.stop();
  await server.stop();
  return [...ownRows, ...shared];
}

function open({ browser, server, token }: Side, path: string, view: View): Promise<ExploreVisitor> {
  return ExploreVisitor.open(browser, `${server.url}${path}`, token, view);
}

async function firstPaint(side: Side): Promise<Row> {
  side.scene.progress('paints of the overview');
  const paints = [];
  for (let turn = 0; turn < PAINTS; turn++) {
    await using visitor = await open(side, OVERVIEW, 'overview');
    paints.push(visitor.paint);
  }
  const useful = median(paints.map(({ firstMs, contentMs }) => firstMs + contentMs));
  return {
    ...below('explore page: first useful paint', useful, 1000, milliseconds),
    note: `the counts of the overview, with an empty cache, without the time in which the user pastes a token; the first paint alone takes ${milliseconds(median(paints.map(({ firstMs }) => firstMs)))}`,
  };
}

async function memory(side: Side): Promise<readonly Row[]> {
  side.scene.progress('memory of the page');
  const heap = async (path: string, view: View): Promise<number> => {
    await using visitor = await open(side, path, view);
    return await visitor.heapBytes();
  };
  const pods = `${side.scene.options.pods.toLocaleString('en')} pods`;
  return [
    below(
      `explore page: memory of the overview of ${pods}`,
      await heap(OVERVIEW, 'overview'),
      20e6,
      megabytes,
    ),
    {
      ...below(`explore page: memory of a list of ${pods}`, await heap(LIST, 'list'), 100e6, megabytes),
      note: 'the JavaScript heap after a garbage collection, with a page of 10,000 pods, of which the browser loads the visible ones',
    },
  ];
}

/**
 * Rates of other requests at a server with open pages, whose lists change, beside a server without pages. Both follow the same
 * changes. Each of the two has the pages for half of the measurements, because no two processes are equally fast.
 */
async function costForOthers(side: Side, other: ServerProcess): Promise<readonly Row[]> {
  const { scene, server } = side;
  const works: readonly Work[] = [
    { title: 'get one node', path: `${OUR_NODES}/${scene.nodeName(0)}`, peer: [], ours: [] },
    { title: 'page of 10 pods of one namespace', path: PAGE_OF_PODS, peer: [], ours: [] },
  ];
  for (const [busy, quiet] of [
    [server, other],
    [other, server],
  ] as const) {
    await using visitors = new AsyncDisposableStack();
    for (let page = 0; page < PAGES; page++) {
      const [path, view] = page % 2 === 0 ? ([OVERVIEW, 'overview'] as const) : ([LIST, 'list'] as const);
      visitors.use(await open({ ...side, server: busy }, path, view));
    }
    // The quiet server has to list the pods too.
    await (await open({ ...side, server: quiet }, LIST, 'list'))[Symbol.asyncDispose]();
    for (const { title, path, peer, ours } of works) {
      scene.progress(`${title}, with ${PAGES} open pages`);
      const sides = sidesOf(scene, { busy, quiet, path });
      // Warms up.
      await interleaved(2, sides);
      const seen = await whileChanging(scene, () => interleaved(SLICES, sides));
      peer.push(...seen.peer);
      ours.push(...seen.ours);
    }
  }
  return works.map(rowOf);
}

function sidesOf(
  scene: Scene,
  {
    busy,
    quiet,
    path,
  }: { readonly busy: ServerProcess; readonly quiet: ServerProcess; readonly path: string },
) {
  const measure = (measured: ServerProcess, beside: ServerProcess) => (): Promise<Figures> => {
    const requests = { target: { ...scene.direct, server: measured.url }, pid: measured.pid, paths: [path] };
    return alone(measured.pid, [beside.pid], scene.machine, () => onOneCore(scene, requests, SLICE_SECONDS));
  };
  return { peer: measure(quiet, busy), ours: measure(busy, quiet) };
}

interface Work {
  readonly title: string;
  readonly path: string;
  /** Measurements without pages. */
  readonly peer: Figures[];
  /** Measurements with open pages. */
  readonly ours: Figures[];
}

function rowOf({ title, peer, ours }: Work): Row {
  const rate = (figures: readonly Figures[]): number => median(figures.map((each) => each.rate));
  const cpu = (figures: readonly Figures[]): string =>
    `${(median(figures.map((each) => each.cpu)) * 1000).toFixed(0)} µs`;
  return {
    ...atLeast(`explore page: ${title}, with ${PAGES} open pages`, rate(peer), rate(ours), 0.9, perSecond),
    against: 'another server without pages',
    note: `the pages are live: five overviews and five lists of 10,000 pods, of which the browser loads the visible ones; a visible pod changes every ${CHANGE_PAUSE_MS} ms. Medians of ${peer.length} alternating measurements of ${SLICE_SECONDS} s; each of the two servers has the pages for half of them. CPU of the server a request, with that for the pages: ${cpu(peer)}, with open pages ${cpu(ours)}`,
  };
}

/** Changes a pod again and again during the work. */
async function whileChanging<T>({ cluster, signal }: Scene, work: () => Promise<T>): Promise<T> {
  const { namespace, name } = podName(0);
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const end = new AbortController();
  const changes = (async () => {
    for (let turn = 0; !end.signal.aborted; turn++) {
      signal.throwIfAborted();
      const body = { metadata: { annotations: { turn: String(turn) } } };
      const contentType = 'application/merge-patch+json';
      await cluster.expect(path, { method: 'PATCH', contentType, body }, [200]);
      await delay(CHANGE_PAUSE_MS);
    }
  })();
  const [result] = await Promise.all([work().finally(() => end.abort()), changes]);
  return result;
}

const PERMISSIONS = JSON.stringify({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'bench-explore' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: [
    { kind: 'ServiceAccount', name: CALLER, namespace: 'default' },
    { kind: 'User', name: CALLER, apiGroup: 'rbac.authorization.k8s.io' },
  ],
});
