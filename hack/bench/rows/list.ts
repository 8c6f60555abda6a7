// Benchmark: lists of all nodes, direct and through the aggregation layer. The baseline is kube-apiserver.
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadGenerator, RequestsResult, Target } from '../measuring/load-generator.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median, sum } from '../measuring/statistics.ts';
import { CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { atMost, megabytes, milliseconds, type Row } from './row.ts';

const ROUNDS = 9;
const LISTS_PER_ROUND = 3;
/** Time after a round, in ms, during which garbage collection is counted as cost of the round. */
const SETTLE_MS = 150;

interface Measured {
  readonly result: RequestsResult;
  /** CPU of the serving processes per list, in seconds. */
  readonly cpu: number;
}

export async function listRows(scene: Scene): Promise<readonly Row[]> {
  const { load, kube, direct } = scene;
  const servers = { kube: scene.kubePid, ours: scene.server.pid };
  const peerPath = `${CORE_NODES}?resourceVersion=0`;
  // Explicit, because without the header the aggregator requests gzip and decompresses it for the client.
  const plain = withEncoding('identity');
  const gzip = withEncoding('gzip');
  const side = (target: Target, path: string, pids: readonly number[]) => () =>
    lists(load, target, path, pids);

  await Promise.all(
    [kube, direct]
      .flatMap((to) => [plain(to), gzip(to)])
      .map((to) =>
        load.requests({
          target: to,
          paths: [to.server === kube.server ? peerPath : OUR_NODES],
          connections: 1,
          requests: 3,
        }),
      ),
  );
  const seen = await interleaved(ROUNDS, {
    peer: side(plain(kube), peerPath, [servers.kube]),
    direct: side(plain(direct), OUR_NODES, [servers.ours]),
    aggregated: side(plain(kube), OUR_NODES, [servers.kube, servers.ours]),
    peerGzip: side(gzip(kube), peerPath, [servers.kube]),
    directGzip: side(gzip(direct), OUR_NODES, [servers.ours]),
  });
  const time = (side: keyof typeof seen): number =>
    median(seen[side].map(({ result }) => result.latencyMs.p50));
  const cpu = (side: keyof typeof seen): number => (sum(seen[side].map(({ cpu }) => cpu)) / ROUNDS) * 1000;
  const bytes = (side: keyof typeof seen): number =>
    median(seen[side].map(({ result }) => result.bytes / result.requests));
  const what = `list ${scene.options.nodes} nodes`;
  return [
    atMost(`${what}, direct: time`, time('peer'), time('direct'), 1 / 5, milliseconds),
    atMost(`${what}, direct: CPU of the server`, cpu('peer'), cpu('direct'), 1 / 6, milliseconds),
    atMost(`${what}, direct: bytes`, bytes('peer'), bytes('direct'), 1.02, megabytes),
    atMost(`${what}, through the aggregator: time`, time('peer'), time('aggregated'), 0.36, milliseconds),
    atMost(`${what}, direct, gzip: time`, time('peerGzip'), time('directGzip'), 1 / 10, milliseconds),
    atMost(`${what}, direct, gzip: bytes`, bytes('peerGzip'), bytes('directGzip'), 1.2, megabytes),
  ];
}

function withEncoding(encoding: string): (target: Target) => Target {
  return (target) => ({ ...target, headers: { ...target.headers, 'Accept-Encoding': encoding } });
}

async function lists(
  load: LoadGenerator,
  target: Target,
  path: string,
  pids: readonly number[],
): Promise<Measured> {
  const used = async (): Promise<number> => sum(await Promise.all(pids.map(cpuSeconds)));
  const before = await used();
  const result = await load.requests({ target, paths: [path], connections: 1, requests: LISTS_PER_ROUND });
  await delay(SETTLE_MS);
  return { result, cpu: ((await used()) - before) / LISTS_PER_ROUND };
}
