// Benchmark: the gateway and a bare Node proxy with the same requests. The proxy shows how much of the CPU time and the
// latency is TLS and HTTP in Node.
import { join } from 'node:path';
import { startLineProtocolProgram } from '../../system/line-protocol-program.ts';
import type { Target } from '../measuring/load-generator.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { CORE_NODES, type Scene } from '../scene/scene.ts';
import { execRows } from './gateway-exec.ts';
import { added, CONNECTIONS, gets, sidesOf, WARM_UP_SECONDS } from './gateway-sides.ts';
import { arrivals, WATCHERS } from './gateway-watch.ts';
import { atLeast, informs, perSecond, type Row } from './row.ts';

const BARE_PROXY = join(import.meta.dirname, '../bare/proxy.ts');

export async function bareRows(scene: Scene, token: string): Promise<readonly Row[]> {
  scene.progress('comparing with a bare Node proxy');
  const { kube, serving, server, signal } = scene;
  const { hostname, port } = new URL(kube.server);
  const args = [BARE_PROXY, hostname, port, kube.ca, serving.cert, serving.key];
  const program = startLineProtocolProgram(process.execPath, args, signal);
  try {
    const { peer: direct, ours } = sidesOf(scene, token);
    const peer = { target: { ...ours.target, server: `https://127.0.0.1:${await program.line()}` } };
    await gets(scene, peer.target, CONNECTIONS, WARM_UP_SECONDS);
    const many = (target: Target, pid: number) => async () => {
      const before = await cpuSeconds(pid);
      const { rate, requests } = await gets(scene, target, CONNECTIONS);
      return { rate, cpu: (((await cpuSeconds(pid)) - before) / requests) * 1e6 };
    };
    const one = (target: Target) => async () => (await gets(scene, target, 1)).latencyMs.p50;
    const seen = await interleaved(3, {
      peer: many(peer.target, program.pid),
      ours: many(ours.target, server.pid),
    });
    const latencies = await interleaved(3, { peer: one(peer.target), ours: one(ours.target) });
    const events = await arrivals(
      scene,
      { peer, ours },
      CORE_NODES,
      `${CORE_NODES}/${scene.nodeName(0)}`,
      WATCHERS,
    );
    const of = (side: 'peer' | 'ours', figure: 'rate' | 'cpu'): number =>
      median(seen[side].map((round) => round[figure]));
    const eventRate = (delays: readonly number[]): number => (WATCHERS / median(delays)) * 1000;
    const work = 'compared with a bare Node proxy';
    return [
      informs(
        atLeast(`gateway: get one node, ${work}`, of('peer', 'rate'), of('ours', 'rate'), 1, perSecond),
        `${of('peer', 'cpu').toFixed(0)} µs of CPU per request, ours ${of('ours', 'cpu').toFixed(0)} µs`,
      ),
      informs(added(`gateway: latency of a get, ${work}`, latencies)),
      informs(
        atLeast(
          `gateway: events of ${WATCHERS} watchers, ${work}`,
          eventRate(events.peer),
          eventRate(events.ours),
          1,
          perSecond,
        ),
      ),
      ...(await execRows(scene, { peer: direct.target, bare: peer.target, ours: ours.target })),
    ];
  } finally {
    await program.end();
  }
}
