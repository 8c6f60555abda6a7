// Benchmark: delay from a write to its watch event, with one watcher and with many. The baseline is kube-apiserver.
import { setTimeout as delay } from 'node:timers/promises';
import type { Arrivals, Target } from '../measuring/load-generator.ts';
import { residentMB } from '../measuring/process-usage.ts';
import { median, quantile } from '../measuring/statistics.ts';
import { currentVersion } from '../scene/comparison.ts';
import { CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { milliseconds, type Row } from './row.ts';

const CHANGES_FOR_ONE = 200;
const CHANGES_FOR_MANY = 20;
const ROUNDS_FOR_MANY = 2;

export async function watchRows(scene: Scene): Promise<readonly Row[]> {
  const { watchers } = scene.options;
  const most = Math.max(...watchers);
  const rows = [await oneWatcher(scene)];
  // The largest number first, so that its memory is not taken from the free heap of earlier rounds.
  for (const count of watchers.toSorted((left, right) => right - left)) {
    scene.progress(`${count} watchers`);
    const measured = await manyWatchers(scene, count);
    rows.push(measured.delay);
    if (count === most) rows.push(measured.memory);
  }
  return rows;
}

async function oneWatcher(scene: Scene): Promise<Row> {
  const { load } = scene;
  await load.openWatches('peer', scene.kube, await fromNow(scene.kube, CORE_NODES), 1);
  await load.openWatches('ours', scene.direct, await fromNow(scene.direct, OUR_NODES), 1);
  const write = {
    target: scene.writer,
    path: `${CORE_NODES}/${scene.nodeName(0)}`,
    pauseMs: 15,
    timeoutMs: 10_000,
  };
  await load.change({ ...write, ids: ['peer', 'ours'], changes: 50 });
  const { groups } = await load.change({ ...write, ids: ['peer', 'ours'], changes: CHANGES_FOR_ONE });
  await load.closeWatches('peer');
  await load.closeWatches('ours');
  const peer = arrivals(groups, 'peer').lastMs;
  const ours = arrivals(groups, 'ours').lastMs;
  // Both sides see the same write, so its duration cancels out.
  const later = ours.map((at, change) => at - (peer[change] ?? Number.NaN));
  return {
    ...difference('delay of a change at one watcher', median(peer), median(ours), 0.5, median(later)),
    note: `median of ${CHANGES_FOR_ONE} differences; 90 % within ${milliseconds(quantile(later, 0.9))}`,
    shortfall:
      'the event passes one more process and two more TLS connections. On a busy machine, the server takes 0.7 ms from the first received byte to the last sent byte: 0.15 ms until the second TLS record arrives, 0.4 ms to read, 0.1 ms to write. With warm CPU caches, reading takes 0.11 ms. The rest is the wake-up of two processes while etcd, kube-apiserver and the load generator use the cores',
  };
}

async function manyWatchers(scene: Scene, count: number): Promise<{ delay: Row; memory: Row }> {
  const sides = {
    peer: { target: scene.kube, path: CORE_NODES, pid: scene.kubePid },
    ours: { target: scene.direct, path: OUR_NODES, pid: scene.server.pid },
  };
  const last = { peer: [] as number[], ours: [] as number[] };
  const memory = { peer: [] as number[], ours: [] as number[] };
  for (let round = 0; round < ROUNDS_FOR_MANY; round++) {
    for (const side of ['peer', 'ours'] as const) {
      const { target, path, pid } = sides[side];
      const before = await residentMB(pid);
      await scene.load.openWatches(side, target, await fromNow(target, path), count);
      const write = { target: scene.writer, path: `${CORE_NODES}/${scene.nodeName(round)}`, ids: [side] };
      const pauseMs = Math.max(50, count / 10);
      await scene.load.change({ ...write, changes: 3, pauseMs, timeoutMs: 60_000 });
      memory[side].push(((await residentMB(pid)) - before) * (1000 / count));
      const { groups } = await scene.load.change({
        ...write,
        changes: CHANGES_FOR_MANY,
        pauseMs,
        timeoutMs: 60_000,
      });
      last[side].push(...arrivals(groups, side).lastMs);
      const { lost } = await scene.load.closeWatches(side);
      if (lost > 0) throw new Error(`${lost} of ${count} watches of ${target.server} ended by themselves`);
      await delay(1000, undefined, { signal: scene.signal });
    }
  }
  const peer = median(last.peer);
  const ours = median(last.ours);
  const goal = count <= 300 ? 2 : 0;
  const kilobytes = (value: number): string => `${value.toFixed(0)} kB`;
  // Only the first round: later rounds reuse its memory.
  const [peerMemory = 0] = memory.peer;
  const [ourMemory = 0] = memory.ours;
  return {
    delay: difference(`delay of a change at the last of ${count} watchers`, peer, ours, goal, ours - peer),
    memory: {
      work: `memory for each of ${count} watchers`,
      peer: kilobytes(peerMemory),
      ours: kilobytes(ourMemory),
      ratio: `${(ourMemory / peerMemory).toFixed(2)} ×`,
      goal: '< 1 ×',
      // With few watches, garbage collection may have released more than they need.
      met: peerMemory > 0 ? ourMemory < peerMemory : undefined,
      shortfall:
        'a TLS connection with an open response takes 75 kB in plain Node; the rest is the request and its watch',
    },
  };
}

function difference(work: string, peer: number, ours: number, goal: number, later: number): Row {
  return {
    work,
    peer: milliseconds(peer),
    ours: milliseconds(ours),
    ratio: `${later < 0 ? '−' : '+'}${milliseconds(Math.abs(later))}`,
    goal: goal === 0 ? 'not later' : `≤ +${milliseconds(goal)}`,
    met: later <= goal,
  };
}

function arrivals(groups: Readonly<Record<string, Arrivals>>, id: string): Arrivals {
  const found = groups[id];
  if (found === undefined) throw new Error(`no arrivals of ${id}`);
  return found;
}

/** Path of a watch from the current resourceVersion: no initial events, no gap. */
async function fromNow(target: Target, path: string): Promise<string> {
  const version = await currentVersion(target, path);
  return `${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`;
}
