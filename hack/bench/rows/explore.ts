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
const PAINTS = 7;
const PAGES = 10;
/** Short and many, because the speed of a shared machine changes within seconds. */
const SLICES = 20;
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
  const quiet = await scene.another(options);
  scene.progress('the first pages');
  // The servers read the files of the page, and list the kinds of the overview.
  for (const each of [server, quiet]) {
    await (await open({ ...side, server: each }, OVERVIEW, 'overview'))[Symbol.asyncDispose]();
  }
  const rows = [await firstPaint(side), ...(await memory(side)), ...(await costForOthers(side, quiet))];
  await quiet.stop();
  await server.stop();
  return rows;
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
 * Rates of other requests at a server with open pages, whose lists change, and at `quiet`, without pages. Both servers follow
 * the same changes, and one core is for the measured one.
 */
async function costForOthers(side: Side, quiet: ServerProcess): Promise<readonly Row[]> {
  const { scene, server } = side;
  const platform = '/kapis/resources.platform.io/v1alpha3';
  const works = {
    'get one node': [`${OUR_NODES}/${scene.nodeName(0)}`],
    'page of 10 pods of one namespace': [
      `${platform}/namespaces/${namespaceName(0)}/pods?limit=10&sortBy=name`,
    ],
  };
  await using visitors = new AsyncDisposableStack();
  for (let page = 0; page < PAGES; page++) {
    visitors.use(await (page % 2 === 0 ? open(side, OVERVIEW, 'overview') : open(side, LIST, 'list')));
  }
  const rows: Row[] = [];
  for (const [work, paths] of Object.entries(works)) {
    scene.progress(`${work}, with ${PAGES} open pages`);
    const measure = (measured: ServerProcess, other: ServerProcess) => (): Promise<Figures> => {
      const target = { ...scene.direct, server: measured.url };
      const requests = { target, pid: measured.pid, paths };
      return alone(measured.pid, [other.pid], scene.machine, () => onOneCore(scene, requests, SLICE_SECONDS));
    };
    const sides = { peer: measure(quiet, server), ours: measure(server, quiet) };
    // Warms up.
    await interleaved(2, sides);
    const seen = await whileChanging(scene, () => interleaved(SLICES, sides));
    const of = (name: keyof typeof seen, figure: keyof Figures): number =>
      median(seen[name].map((figures) => figures[figure]));
    const cpu = (name: keyof typeof seen): string => `${(of(name, 'cpu') * 1000).toFixed(0)} µs`;
    rows.push({
      ...atLeast(
        `explore page: ${work}, with ${PAGES} open pages`,
        of('peer', 'rate'),
        of('ours', 'rate'),
        0.9,
        perSecond,
      ),
      against: 'another server without pages',
      note: `the pages are live: five overviews and five lists of 10,000 pods, of which the browser loads the visible ones; a visible pod changes every ${CHANGE_PAUSE_MS} ms. Medians of ${SLICES} alternating measurements of ${SLICE_SECONDS} s. CPU of the server a request, with that for the pages: ${cpu('peer')}, with open pages ${cpu('ours')}`,
    });
  }
  return rows;
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
