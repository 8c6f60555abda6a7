// The console paths: pages that are filtered and sorted, beside kube-apiserver's own list with the same selector.
// Each server has one core for itself, the load generator the other.
import type { RequestsResult, Target } from '../measuring/load-generator.ts';
import { pinned } from '../measuring/machine.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { CORE_NODES, type Scene } from '../scene/scene.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

const PLATFORM_NODES = '/kapis/resources.platform.io/v1alpha3/nodes';
const ROUNDS = 3;
const CONNECTIONS = 32;
const PAGE = 10;
/** Two thirds of the nodes. */
const SELECTOR = encodeURIComponent('topology.kubernetes.io/zone in (region-1a,region-1b)');

interface Measured {
  readonly result: RequestsResult;
  readonly cpuPerRequest: number;
}

export async function platformRows(scene: Scene): Promise<readonly Row[]> {
  const { load, kube, direct, machine, options } = scene;
  const side =
    (target: Target, pid: number, paths: readonly string[], connections = CONNECTIONS) =>
    () =>
      pinned(pid, machine, async (): Promise<Measured> => {
        const before = await cpuSeconds(pid);
        const result = await load.requests({ target, paths, connections, seconds: options.seconds });
        return { result, cpuPerRequest: ((await cpuSeconds(pid)) - before) / result.requests };
      });
  const peer = (paths: readonly string[], connections?: number) =>
    side(kube, scene.kubePid, paths, connections);
  const ours = (paths: readonly string[], connections?: number) =>
    side(direct, scene.server.pid, paths, connections);

  const selected = Math.floor((options.nodes * 2) / 3 / PAGE);
  const sorts = ['cpu', 'creationTimestamp', 'name', 'kubeletVersion'];
  const pages = Array.from({ length: 200 }, (_, i) => {
    const page = 1 + ((i * 7) % Math.max(1, selected));
    const order = `sortBy=${sorts[i % sorts.length]}&ascending=${i % 3 === 0}`;
    return `${PLATFORM_NODES}?limit=${PAGE}&page=${page}&${order}&status=running&labelSelector=${SELECTOR}`;
  });
  const names = Array.from({ length: Math.min(500, options.nodes) }, (_, i) => scene.nodeName(i));
  const get = names.map((name) => `${PLATFORM_NODES}/${name}`);
  const everything = [PLATFORM_NODES];
  const work = {
    // A page of kube-apiserver's is not sorted and cannot be chosen; a limit makes it read from etcd.
    peerPage: peer([`${CORE_NODES}?limit=${PAGE}&labelSelector=${SELECTOR}`]),
    page: ours(pages),
    peerGet: peer(names.map((name) => `${CORE_NODES}/${name}?resourceVersion=0`)),
    get: ours(get),
    peerAll: peer([`${CORE_NODES}?resourceVersion=0`], 1),
    all: ours(everything, 1),
    peerGzip: side(gzip(kube), scene.kubePid, [`${CORE_NODES}?resourceVersion=0`], 1),
    allGzip: side(gzip(direct), scene.server.pid, everything, 1),
  };

  scene.progress('warming both sides up');
  await load.requests({ target: direct, paths: pages, connections: CONNECTIONS, seconds: 3 });
  const seen = await interleaved(ROUNDS, work);
  const unchanged = await unchangedRate(scene, pages[0] ?? PLATFORM_NODES);
  const rate = (key: keyof typeof seen): number => median(seen[key].map(({ result }) => result.rate));
  const cpu = (key: keyof typeof seen): number => median(seen[key].map((each) => each.cpuPerRequest * 1000));
  const p99 = (key: keyof typeof seen): string =>
    milliseconds(median(seen[key].map(({ result }) => result.latencyMs.p99)));
  const note = (theirs: keyof typeof seen, own: keyof typeof seen): string =>
    `p99 ${p99(theirs)}, ours ${p99(own)}; CPU a request ${milliseconds(cpu(theirs))}, ours ${milliseconds(cpu(own))}`;
  const informs = (row: Row): Row => ({ ...row, goal: '', met: undefined });
  const total = options.nodes;
  return [
    {
      ...atLeast(
        `platform: page of ${PAGE} of ${total}, filtered, sorted`,
        rate('peerPage'),
        rate('page'),
        6,
        perSecond,
      ),
      note: `${note('peerPage', 'page')}; the peer's page has the same label selector and no order`,
    },
    {
      ...informs(
        atLeast('platform: the same page, unchanged (304)', rate('peerPage'), unchanged.rate, 6, perSecond),
      ),
      note: `p99 ${milliseconds(unchanged.latencyMs.p99)}`,
    },
    {
      ...informs(atLeast('platform: get one node', rate('peerGet'), rate('get'), 10, perSecond)),
      note: note('peerGet', 'get'),
    },
    {
      ...informs(atLeast(`platform: all ${total}, sorted`, rate('peerAll'), rate('all'), 1, perSecond)),
      note: `${note('peerAll', 'all')}; one connection`,
    },
    {
      ...informs(
        atLeast(`platform: all ${total}, sorted, gzip`, rate('peerGzip'), rate('allGzip'), 1, perSecond),
      ),
      note: `${note('peerGzip', 'allGzip')}; one connection`,
    },
  ];
}

function gzip(target: Target): Target {
  return { ...target, headers: { ...target.headers, 'Accept-Encoding': 'gzip' } };
}

/** Requests by a client that has the page already. The load generator takes 304 here for what it is. */
async function unchangedRate(
  { load, direct, server, machine, options }: Scene,
  path: string,
): Promise<RequestsResult> {
  const target = { ...direct, headers: { ...direct.headers, 'If-None-Match': '*' } };
  return pinned(server.pid, machine, () =>
    load.requests({ target, paths: [path], connections: CONNECTIONS, seconds: options.seconds }, '304'),
  );
}
