// Rate of gets of one node: each server has one core, the load generator the other.
import { CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { eachOnOneCore, onOneCore } from './one-core.ts';
import { atLeast, atMost, informs, milliseconds, perSecond, type Row } from './row.ts';

/** Enough names to avoid special cases, few enough for the CPU caches of both sides. */
const NAMES = 500;

export async function getRows(scene: Scene): Promise<readonly Row[]> {
  const names = Array.from({ length: Math.min(NAMES, scene.options.nodes) }, (_, index) =>
    scene.nodeName(index),
  );
  const our = names.map((name) => `${OUR_NODES}/${name}`);
  const core = names.map((name) => `${CORE_NODES}/${name}`);
  const kube = { target: scene.kube, pid: scene.kubePid };
  const sides = {
    peer: { ...kube, paths: core },
    cached: { ...kube, paths: core.map((path) => `${path}?resourceVersion=0`) },
    ours: { target: scene.direct, pid: scene.server.pid, paths: our },
    aggregated: { ...kube, paths: our },
  };
  scene.progress('warming both sides up');
  await onOneCore(scene, sides.peer, 2);
  await onOneCore(scene, sides.ours, 5);
  const { peer, cached, ours, aggregated } = await eachOnOneCore(scene, sides);
  const microseconds = (value: number): string => `${(value * 1000).toFixed(0)} µs`;
  return [
    {
      ...atLeast('get one node, direct', peer.rate, ours.rate, 10, perSecond),
      note: `one core for each server; p99 ${milliseconds(peer.p99)}, ours p99 ${milliseconds(ours.p99)}; the load generator busy for ${(ours.generator * 100).toFixed(0)} % of its core`,
      shortfall: `a request takes ${microseconds(ours.cpu)} of the core; of that the write to TLS and the socket takes two fifths, Node's HTTP a fifth, and nothing else more than 3 %`,
    },
    informs(atMost('get one node, direct: CPU of the server', peer.cpu, ours.cpu, 1, microseconds)),
    informs(
      atLeast('get one node, direct, peer from its cache', cached.rate, ours.rate, 1, perSecond),
      'kube-apiserver with resourceVersion=0, which avoids its request to etcd',
    ),
    informs(
      atLeast('get one node, through the aggregator', peer.rate, aggregated.rate, 1, perSecond),
      'kube-apiserver on one core, our server free',
    ),
  ];
}
