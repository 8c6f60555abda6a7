// The two targets of the gateway benchmarks: kube-apiserver (`peer`) and the gateway (`ours`), with the same token.
import { type Target, withToken } from '../measuring/load-generator.ts';
import { median } from '../measuring/statistics.ts';
import { CORE_NODES, type Scene } from '../scene/scene.ts';
import { milliseconds, type Row } from './row.ts';

export const CONNECTIONS = 32;
export const WARM_UP_SECONDS = 3;
/** Name of the objects that the gateway benchmarks create. */
export const NAME = 'bench-gateway';
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const ADDED_MS = 0.5;

export type Sides<Value> = Readonly<Record<'peer' | 'ours', Value>>;

export function sidesOf({ kube, direct }: Scene, token: string): Sides<{ readonly target: Target }> {
  return { peer: { target: withToken(kube, token) }, ours: { target: withToken(direct, token) } };
}

export function gets(scene: Scene, target: Target, connections: number, seconds = scene.options.seconds) {
  const paths = [`${CORE_NODES}/${scene.nodeName(0)}`];
  return scene.load.requests({ target, paths, connections, seconds });
}

/** A row with the goal for the added median latency. */
export function added(work: string, latencies: Sides<readonly number[]>): Row {
  const [peer, ours] = [median(latencies.peer), median(latencies.ours)];
  return {
    work,
    peer: milliseconds(peer),
    ours: milliseconds(ours),
    ratio: `${ours < peer ? '−' : '+'}${milliseconds(Math.abs(ours - peer))}`,
    goal: `≤ +${milliseconds(ADDED_MS)}`,
    met: ours - peer <= ADDED_MS,
  };
}
