// Benchmark: filtered and sorted pages of the node list for consoles. The baseline is a kube-apiserver list with the
// same label selector.
import { CORE_NODES, type Scene } from '../scene/scene.ts';
import { eachOnOneCore, onOneCore } from './one-core.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

const PLATFORM_NODES = '/kapis/resources.platform.io/v1alpha3/nodes';
const PAGE = 10;
/** Selects two thirds of the nodes. */
const SELECTOR = encodeURIComponent('topology.kubernetes.io/zone in (region-1a,region-1b)');

export async function platformRows(scene: Scene): Promise<readonly Row[]> {
  const { options } = scene;
  const selected = Math.floor((options.nodes * 2) / 3 / PAGE);
  const sorts = ['cpu', 'creationTimestamp', 'name', 'kubeletVersion'];
  const pages = Array.from({ length: 200 }, (_, i) => {
    const page = 1 + ((i * 7) % Math.max(1, selected));
    const order = `sortBy=${sorts[i % sorts.length]}&ascending=${i % 3 === 0}`;
    return `${PLATFORM_NODES}?limit=${PAGE}&page=${page}&${order}&status=running&labelSelector=${SELECTOR}`;
  });
  const sides = {
    // kube-apiserver has no sorted pages and no page numbers; with a limit it reads from etcd.
    peer: {
      target: scene.kube,
      pid: scene.kubePid,
      paths: [`${CORE_NODES}?limit=${PAGE}&labelSelector=${SELECTOR}`],
    },
    ours: { target: scene.direct, pid: scene.server.pid, paths: pages },
  };
  scene.progress('warming up');
  await onOneCore(scene, sides.ours, 3);
  const { peer, ours } = await eachOnOneCore(scene, sides);
  const work = `platform: page of ${PAGE} of ${options.nodes}, filtered, sorted`;
  return [
    {
      ...atLeast(work, peer.rate, ours.rate, 6, perSecond),
      note: `p99 ${milliseconds(peer.p99)}, ours ${milliseconds(ours.p99)}; CPU per request ${milliseconds(peer.cpu)}, ours ${milliseconds(ours.cpu)}; the peer's page has the same label selector and no order`,
    },
  ];
}
