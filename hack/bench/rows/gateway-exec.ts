// Benchmark: 1 GB through `exec`, directly and through the gateway. A simulated kubelet sends the bytes. kube-apiserver
// and the gateway copy the bytes without parsing them.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { type LineProtocolProgram, startLineProtocolProgram } from '../../system/line-protocol-program.ts';
import { EXEC_BYTES, execHash } from '../measuring/exec-blocks.ts';
import type { Target } from '../measuring/load-generator.ts';
import { cpuSeconds, peakWhile } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import type { Scene } from '../scene/scene.ts';
import type { Sides } from './gateway-sides.ts';
import { atLeast, below, megabytes, type Row } from './row.ts';

const KUBELET = join(import.meta.dirname, '../bare/kubelet.ts');
const NAME = 'bench-exec';
const PODS = '/api/v1/namespaces/default/pods';
const ROUNDS = 3;
const RATE_GOAL = 0.7;
/** Growth of memory from the second 1 GB to the last. */
const FLAT_MB = 10;

export async function execRows(
  scene: Scene,
  { peer, ours }: Sides<{ readonly target: Target }>,
): Promise<readonly Row[]> {
  const { server, serving, signal, progress } = scene;
  progress('1 GB through exec');
  const expected = execHash();
  const kubelet = startLineProtocolProgram(process.execPath, [KUBELET, serving.cert, serving.key], signal);
  try {
    await createPod(scene, kubelet);
    const through = (target: Target) => async () => {
      const before = await cpuSeconds(server.pid);
      const [seconds, peak] = await peakWhile(server.pid, () => read(target, expected));
      return { rate: EXEC_BYTES / seconds, peak, cpu: (await cpuSeconds(server.pid)) - before };
    };
    const seen = await interleaved(ROUNDS, { peer: through(peer.target), ours: through(ours.target) });
    const rate = (side: keyof typeof seen): number => median(seen[side].map((round) => round.rate));
    const peaks = seen.ours.map(({ peak }) => peak);
    const growth = Math.max(0, (peaks.at(-1) ?? 0) - (peaks[1] ?? 0));
    const cpu = median(seen.ours.map((round) => round.cpu));
    const work = 'gateway: 1 GB through exec';
    const perSecond = (bytes: number): string => `${megabytes(bytes)}/s`;
    return [
      {
        ...atLeast(work, rate('peer'), rate('ours'), RATE_GOAL, perSecond),
        note: `the hashes are equal; one process for each of kubelet, kube-apiserver, gateway and client shares the cores; the gateway takes ${cpu.toFixed(2)} s of CPU`,
        shortfall: 'on a machine with two cores, the gateway takes its CPU from the other three processes',
      },
      below(
        'gateway: growth of memory from the second 1 GB to the third',
        growth * 1e6,
        FLAT_MB * 1e6,
        megabytes,
      ),
    ];
  } finally {
    await kubelet.end();
  }
}

/** Creates a pod on a node whose kubelet is the simulated one. */
async function createPod({ cluster }: Scene, kubelet: LineProtocolProgram): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: NAME } };
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: Number(await kubelet.line()) } },
  };
  const spec = {
    nodeName: NAME,
    containers: [{ name: 'app', image: 'x' }],
    tolerations: [{ operator: 'Exists' }],
  };
  await cluster.expect('/api/v1/nodes', { method: 'POST', body: node }, [201]);
  const contentType = 'application/merge-patch+json';
  await cluster.expect(
    `/api/v1/nodes/${NAME}/status`,
    { method: 'PATCH', body: { status }, contentType },
    [200],
  );
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: NAME }, spec };
  await cluster.expect(PODS, { method: 'POST', body: pod }, [201]);
}

/** Reads all bytes of one exec. Returns the seconds. Throws if the bytes are not the expected ones. */
async function read({ server, ca, headers }: Target, expected: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const opening = request(`${server}${PODS}/${NAME}/exec?command=cat&container=app&stdout=true`, {
    method: 'POST',
    ca: await readFile(ca),
    agent: false,
    headers: {
      ...headers,
      Connection: 'Upgrade',
      Upgrade: 'SPDY/3.1',
      'X-Stream-Protocol-Version': 'v4.channel.k8s.io',
    },
  });
  opening.once('upgrade', (_response: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.unshift(head);
    resolve(socket);
  });
  opening.once('response', ({ statusCode }) => reject(new Error(`exec at ${server}: status ${statusCode}`)));
  opening.once('error', reject);
  opening.end();
  const began = performance.now();
  const hash = createHash('sha256');
  for await (const bytes of await promise) hash.update(bytes as Buffer);
  const seconds = (performance.now() - began) / 1000;
  if (hash.digest('hex') !== expected) throw new Error(`exec at ${server}: the bytes differ`);
  return seconds;
}
