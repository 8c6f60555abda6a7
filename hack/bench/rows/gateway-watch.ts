// Benchmark: delay from a write to its watch event through the gateway, with one watcher and with many. The baseline is
// the same watch at kube-apiserver.
import { setTimeout as delay } from 'node:timers/promises';
import type { Target } from '../measuring/load-generator.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { currentVersion } from '../scene/comparison.ts';
import { CORE_NODES, type Scene } from '../scene/scene.ts';
import { added, CONFIG_MAPS, NAME, type Sides, sidesOf } from './gateway-sides.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

const WATCHERS = 300;
const CHANGES = 20;
/** Size of the changed ConfigMap, about that of a node. */
const CONFIG_MAP_BYTES = 8_000;

const WATCH_GOAL = 0.8;

const SHARED_CORES_WATCH =
  'on a machine with two cores, the gateway takes its CPU from kube-apiserver: it reads and writes one TLS record for each watcher and event. A Node program that only copies bytes between the TLS connections takes the same CPU, and has a lower rate';

export async function watchRows(scene: Scene, token: string): Promise<readonly Row[]> {
  scene.progress(`${WATCHERS} watchers`);
  const sides = sidesOf(scene, token);
  await createConfigMap(scene);
  const node = `${CORE_NODES}/${scene.nodeName(0)}`;
  const many = await arrivals(scene, sides, CORE_NODES, node, WATCHERS);
  // Second, because V8 does not compile code that has forwarded a few events only. The server watches nodes itself, and no
  // ConfigMaps.
  const one = await arrivals(scene, sides, CONFIG_MAPS, `${CONFIG_MAPS}/${NAME}`, 1);
  const rate = (delays: readonly number[]): number => (WATCHERS / median(delays)) * 1000;
  return [
    {
      ...added('gateway: delay of a change at one watcher', one),
      note: 'of a ConfigMap with the size of a node',
      shortfall: SHARED_CORES_WATCH,
    },
    {
      ...atLeast(
        `gateway: events of ${WATCHERS} watchers`,
        rate(many.peer),
        rate(many.ours),
        WATCH_GOAL,
        perSecond,
      ),
      note: `events in the time until the last watcher has the change: ${milliseconds(median(many.peer))}, ours ${milliseconds(median(many.ours))}`,
      shortfall: SHARED_CORES_WATCH,
    },
  ];
}

/** Delays until the last watcher has a change, in ms. */
async function arrivals(
  scene: Scene,
  sides: Sides<{ readonly target: Target }>,
  list: string,
  object: string,
  count: number,
): Promise<Record<'peer' | 'ours', number[]>> {
  const { load, signal, writer } = scene;
  const rounds = await interleaved(
    3,
    Object.fromEntries(
      (['peer', 'ours'] as const).map((side) => [
        side,
        async () => {
          const { target } = sides[side];
          const version = await currentVersion(writer, list);
          await load.openWatches(side, target, `${list}?watch=1&resourceVersion=${version}`, count);
          const write = { target: writer, path: object, ids: [side], pauseMs: 50 };
          await load.change({ ...write, changes: 5, timeoutMs: 60_000 });
          const { groups } = await load.change({ ...write, changes: CHANGES, timeoutMs: 60_000 });
          const { lost } = await load.closeWatches(side);
          if (lost > 0)
            throw new Error(`${lost} of ${count} watches of ${target.server} ended by themselves`);
          await delay(500, undefined, { signal });
          return groups[side]?.lastMs ?? [];
        },
      ]),
    ) as Record<'peer' | 'ours', () => Promise<readonly number[]>>,
  );
  return { peer: rounds.peer.flat(), ours: rounds.ours.flat() };
}

async function createConfigMap({ cluster }: Scene): Promise<void> {
  const data = { key: 'x'.repeat(CONFIG_MAP_BYTES) };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME }, data };
  await cluster.expect(CONFIG_MAPS, { method: 'POST', body }, [201, 409]);
}
