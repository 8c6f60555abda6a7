// Benchmark: filtered and sorted pages of the node list for consoles. The baseline is a kube-apiserver list with the
// same label selector.
import type { Target } from '../measuring/load-generator.ts';
import { CORE_NODES, type Scene } from '../scene/scene.ts';
import { eachOnOneCore, type Figures, onOneCore } from './one-core.ts';
import { atLeast, informs, milliseconds, perSecond, type Row } from './row.ts';

const PLATFORM_NODES = '/kapis/resources.platform.io/v1alpha3/nodes';
const PAGE = 10;
/** Selects two thirds of the nodes. */
const SELECTOR = encodeURIComponent('topology.kubernetes.io/zone in (region-1a,region-1b)');

export async function platformRows(scene: Scene): Promise<readonly Row[]> {
  const { options } = scene;
  const kube = { target: scene.kube, pid: scene.kubePid };
  const direct = { target: scene.direct, pid: scene.server.pid };

  const selected = Math.floor((options.nodes * 2) / 3 / PAGE);
  const sorts = ['cpu', 'creationTimestamp', 'name', 'kubeletVersion'];
  const pages = Array.from({ length: 200 }, (_, i) => {
    const page = 1 + ((i * 7) % Math.max(1, selected));
    const order = `sortBy=${sorts[i % sorts.length]}&ascending=${i % 3 === 0}`;
    return `${PLATFORM_NODES}?limit=${PAGE}&page=${page}&${order}&status=running&labelSelector=${SELECTOR}`;
  });
  const names = Array.from({ length: Math.min(500, options.nodes) }, (_, i) => scene.nodeName(i));
  const all = { ...direct, paths: [PLATFORM_NODES], connections: 1 };
  const peerAll = { ...kube, paths: [`${CORE_NODES}?resourceVersion=0`], connections: 1 };
  const gzip = { 'Accept-Encoding': 'gzip' };
  const sides = {
    // kube-apiserver has no sorted pages and no page numbers; with a limit it reads from etcd.
    peerPage: { ...kube, paths: [`${CORE_NODES}?limit=${PAGE}&labelSelector=${SELECTOR}`] },
    page: { ...direct, paths: pages },
    peerGet: { ...kube, paths: names.map((name) => `${CORE_NODES}/${name}?resourceVersion=0`) },
    get: { ...direct, paths: names.map((name) => `${PLATFORM_NODES}/${name}`) },
    peerAll,
    all,
    peerGzip: { ...peerAll, target: withHeaders(scene.kube, gzip) },
    allGzip: { ...all, target: withHeaders(scene.direct, gzip) },
  };

  scene.progress('warming both sides up');
  await onOneCore(scene, sides.page, 3);
  const seen = await eachOnOneCore(scene, sides);
  // Conditional requests of a client that already has the page.
  const unchanged = await onOneCore(scene, {
    target: withHeaders(scene.direct, { 'If-None-Match': '*' }),
    pid: scene.server.pid,
    paths: pages.slice(0, 1),
    status: '304',
  });
  const row = (work: string, peer: Figures, ours: Figures, goal = 1): Row =>
    atLeast(`platform: ${work}`, peer.rate, ours.rate, goal, perSecond);
  const note = (peer: Figures, ours: Figures): string =>
    `p99 ${milliseconds(peer.p99)}, ours ${milliseconds(ours.p99)}; CPU per request ${milliseconds(peer.cpu)}, ours ${milliseconds(ours.cpu)}`;
  const { peerPage, page, peerGet, get, peerGzip, allGzip } = seen;
  return [
    {
      ...row(`page of ${PAGE} of ${options.nodes}, filtered, sorted`, peerPage, page, 6),
      note: `${note(peerPage, page)}; the peer's page has the same label selector and no order`,
    },
    informs(row('the same page, unchanged (304)', peerPage, unchanged), `p99 ${milliseconds(unchanged.p99)}`),
    informs(row('get one node', peerGet, get), note(peerGet, get)),
    informs(
      row(`all ${options.nodes}, sorted`, seen.peerAll, seen.all),
      `${note(seen.peerAll, seen.all)}; one connection`,
    ),
    informs(
      row(`all ${options.nodes}, sorted, gzip`, peerGzip, allGzip),
      `${note(peerGzip, allGzip)}; one connection`,
    ),
  ];
}

function withHeaders(target: Target, headers: Readonly<Record<string, string>>): Target {
  return { ...target, headers: { ...target.headers, ...headers } };
}
