// One node, as often as one core can answer: each server has one core for itself, the load generator the other.
import type { RequestsResult, Target } from '../load-generator.ts';
import { pinned } from '../machine.ts';
import { cpuSeconds } from '../process-usage.ts';
import { atLeast, milliseconds, perSecond, type Row } from '../row.ts';
import { CORE_NODES, OUR_NODES, type Scene } from '../scene.ts';
import { interleaved, median } from '../statistics.ts';

const ROUNDS = 3;
const CONNECTIONS = 32;
/** Enough names that no single one is special, few enough to stay in the processor's cache on both sides. */
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
  const cached = (name: string): string => `${CORE_NODES}/${name}?resourceVersion=0`;
  const quorum = (name: string): string => `${CORE_NODES}/${name}`;
  const our = (name: string): string => `${OUR_NODES}/${name}`;

  scene.progress('warming both sides up');
  await measure(kube, scene.kubePid, cached, 2)();
  await measure(direct, scene.server.pid, our, 5)();
  const seen = await interleaved(ROUNDS, {
    peer: measure(kube, scene.kubePid, cached),
    quorum: measure(kube, scene.kubePid, quorum),
    ours: measure(direct, scene.server.pid, our),
    aggregated: measure(kube, scene.kubePid, our),
  });
  const rate = (side: keyof typeof seen): number => median(seen[side].map(({ result }) => result.rate));
  const cpu = (side: keyof typeof seen): number =>
    median(seen[side].map((each) => each.cpuPerRequest * 1000));
  const p99 = (side: keyof typeof seen): string =>
    `p99 ${milliseconds(median(seen[side].map(({ result }) => result.latencyMs.p99)))}`;
  const generator = median(seen.ours.map(({ result }) => result.cpuSeconds / result.seconds));
  return [
    {
      ...atLeast('get one node, direct', rate('peer'), rate('ours'), 10, perSecond),
      note: `peer from its cache (resourceVersion=0), ${p99('peer')}; ours ${p99('ours')}, the load generator busy for ${(generator * 100).toFixed(0)} % of its core`,
    },
    {
      ...atLeast('get one node, direct: CPU of the server', cpu('ours'), cpu('peer'), 10, milliseconds),
      peer: milliseconds(cpu('peer')),
      ours: milliseconds(cpu('ours')),
      ratio: `1/${(cpu('peer') / cpu('ours')).toFixed(1)}`,
      goal: '',
      met: undefined,
    },
    {
      ...atLeast(
        'get one node: kube-apiserver without resourceVersion',
        rate('quorum'),
        rate('ours'),
        1,
        perSecond,
      ),
      goal: '',
      met: undefined,
    },
    {
      ...atLeast('get one node, through the aggregator', rate('peer'), rate('aggregated'), 1, perSecond),
      goal: '',
      met: undefined,
      note: 'kube-apiserver on one core, our server free',
    },
  ];
}
