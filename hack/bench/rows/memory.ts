// Benchmark: resident memory of a new server: idle, after lists, and under load.
import { setTimeout as delay } from 'node:timers/promises';
import type { LoopDelays } from '../measuring/loop-probe.ts';
import { peakWhile, residentMB } from '../measuring/process-usage.ts';
import { CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { below, milliseconds, type Row } from './row.ts';

const IDLE_SECONDS = 10;
const LISTS = 20;
/** Maximum growth in the second half of the load. */
const FLAT_MB = 15;
const LOAD_SECONDS = 20;

export async function memoryRows(scene: Scene): Promise<readonly Row[]> {
  const { load, kube, options } = scene;
  const server = await scene.another({ probed: true });
  const target = { ...scene.direct, server: server.url };
  const peer = scene.kubePid;
  const megabytes = (value: number): string => `${value.toFixed(0)} MB`;

  scene.progress(`a new server, idle for ${IDLE_SECONDS} s`);
  await delay(IDLE_SECONDS * 1000, undefined, { signal: scene.signal });
  const idle = await residentMB(server.pid);

  const lists = { connections: 2, requests: LISTS };
  const gzip = { 'Accept-Encoding': 'gzip' };
  await load.requests({ target, paths: [OUR_NODES], ...lists });
  await load.requests({ target: { ...target, headers: gzip }, paths: [OUR_NODES], ...lists });
  const afterLists = await residentMB(server.pid);
  await load.requests({ target: kube, paths: [`${CORE_NODES}?resourceVersion=0`], ...lists });
  const peerAfterLists = await residentMB(peer);

  scene.progress(`lists and gets for ${2 * LOAD_SECONDS} s`);
  await server.ask('loop-delays');
  const paths = Array.from(
    { length: Math.min(200, options.nodes) },
    (_, i) => `${OUR_NODES}/${scene.nodeName(i)}`,
  );
  const half = () =>
    peakWhile(server.pid, () =>
      load.requests({ target, paths: [OUR_NODES, ...paths], connections: 16, seconds: LOAD_SECONDS }),
    );
  const [, first] = await half();
  const [, second] = await half();
  const delays = (await server.ask('loop-delays')) as LoopDelays;
  await server.stop();
  return [
    {
      ...below('memory, idle', idle, 240, megabytes),
      shortfall: 'loading client-node alone takes 85 MB; the objects take 42',
    },
    {
      ...below('memory, after lists', afterLists, 320, megabytes),
      peer: megabytes(peerAfterLists),
      note: `${LISTS} plain and ${LISTS} compressed ones`,
    },
    {
      ...below('memory, growth under load', Math.max(0, second - first), FLAT_MB, megabytes),
      note: `difference between the peaks of the second ${LOAD_SECONDS} s (${megabytes(second)}) and of the first (${megabytes(first)}); 16 connections request one list of all nodes after every ${paths.length} gets`,
    },
    {
      ...below('longest block of the event loop under that load', delays.maxMs, 50, milliseconds),
      note: `p99 ${milliseconds(delays.p99Ms)}`,
      shortfall:
        '16 clients connect at once, and each TLS handshake takes one to two milliseconds, more on a slow machine; the longest blocks occur there',
    },
  ];
}
