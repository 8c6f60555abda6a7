// One node, as often as one core can answer: each server has one core for itself, the load generator the other.
import type { RequestsResult, Target } from '../measuring/load-generator.ts';
import { pinned } from '../measuring/machine.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { atLeast, atMost, milliseconds, perSecond, type Row } from './row.ts';

const ROUNDS = 3;
const CONNECTIONS = 32;
/** Enough names that none is special, few enough to stay in the processor's cache on both sides. */
const NAMES = 500;

interface Measured {
  readonly result: RequestsResult;
  readonly cpuPerRequest: number;
}

export async function getRows(scene: Scene): Promise<readonly Row[]> {
  const { load, kube, direct, machine, options } = scene;
  const names = Array.from({ length: Math.min(NAMES, options.nodes) }, (_, index) => scene.nodeName(index));
  const measure =
    (target: Target, pid: number, path: (name: string) => string, seconds = options.seconds) =>
    () =>
      pinned(pid, machine, async (): Promise<Measured> => {
        const before = await cpuSeconds(pid);
        const result = await load.requests({
          target,
          paths: names.map(path),
          connections: CONNECTIONS,
          seconds,
        });
        return { result, cpuPerRequest: ((await cpuSeconds(pid)) - before) / result.requests };
      });
  const our = (name: string): string => `${OUR_NODES}/${name}`;
  const core = (name: string): string => `${CORE_NODES}/${name}`;
  const cached = (name: string): string => `${core(name)}?resourceVersion=0`;

  scene.progress('warming both sides up');
  await measure(kube, scene.kubePid, core, 2)();
  await measure(direct, scene.server.pid, our, 5)();
  const seen = await interleaved(ROUNDS, {
    peer: measure(kube, scene.kubePid, core),
    cached: measure(kube, scene.kubePid, cached),
    ours: measure(direct, scene.server.pid, our),
    aggregated: measure(kube, scene.kubePid, our),
  });
  const rate = (side: keyof typeof seen): number => median(seen[side].map(({ result }) => result.rate));
  const cpu = (side: keyof typeof seen): number => median(seen[side].map((each) => each.cpuPerRequest * 1e6));
  const p99 = (side: keyof typeof seen): string =>
    `p99 ${milliseconds(median(seen[side].map(({ result }) => result.latencyMs.p99)))}`;
  const generator = median(seen.ours.map(({ result }) => result.cpuSeconds / result.seconds));
  const microseconds = (value: number): string => `${value.toFixed(0)} µs`;
  return [
    {
      ...atLeast('get one node, direct', rate('peer'), rate('ours'), 10, perSecond),
      note: `one core for each server; ${p99('peer')}, ours ${p99('ours')}; the load generator busy for ${(generator * 100).toFixed(0)} % of its core`,
      shortfall: `a request takes ${microseconds(cpu('ours'))} of the core; of that the write to TLS and the socket takes two fifths, Node's HTTP a fifth, and nothing else more than 3 %`,
    },
    informs(atMost('get one node, direct: CPU of the server', cpu('peer'), cpu('ours'), 1, microseconds)),
    informs(
      atLeast('get one node, direct, peer from its cache', rate('cached'), rate('ours'), 1, perSecond),
      'kube-apiserver asked with resourceVersion=0, which spares it the question to etcd',
    ),
    informs(
      atLeast('get one node, through the aggregator', rate('peer'), rate('aggregated'), 1, perSecond),
      'kube-apiserver on one core, our server free',
    ),
  ];
}

function informs(row: Row, note?: string): Row {
  return { ...row, goal: '', met: undefined, ...(note === undefined ? {} : { note }) };
}
