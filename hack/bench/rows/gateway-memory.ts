// Benchmark: memory of the server under repeated rounds of the same requests through the gateway.
import { setTimeout as delay } from 'node:timers/promises';
import type { Target } from '../measuring/load-generator.ts';
import { peakWhile } from '../measuring/process-usage.ts';
import { currentVersion } from '../scene/comparison.ts';
import { CORE_NODES, type Scene } from '../scene/scene.ts';
import { below, megabytes, type Row } from './row.ts';

/** Rounds of the same requests. The first ones fill the heap and the pools of connections. */
const MEMORY_ROUNDS = 4;
/** Growth of the peak of the server's memory from the second round to the last. */
const FLAT_MB = 10;
const CONNECTIONS = 32;
const WATCHERS = 300;
const CHANGES = 20;

/** Repeats the same requests through the gateway. */
export async function memoryRow(scene: Scene, target: Target): Promise<Row> {
  const { load, options, server, signal, writer } = scene;
  const path = `${CORE_NODES}/${scene.nodeName(0)}`;
  const peaks: number[] = [];
  for (let round = 0; round < MEMORY_ROUNDS; round++) {
    scene.progress(`memory, round ${round + 1} of ${MEMORY_ROUNDS}`);
    const [, peak] = await peakWhile(server.pid, async () => {
      await load.requests({ target, paths: [path], connections: CONNECTIONS, seconds: options.seconds });
      await load.requests({
        target,
        paths: [`${CORE_NODES}?resourceVersion=0`],
        connections: 1,
        requests: 5,
      });
      const version = await currentVersion(writer, CORE_NODES);
      await load.openWatches('memory', target, `${CORE_NODES}?watch=1&resourceVersion=${version}`, WATCHERS);
      await load.change({
        target: writer,
        path,
        ids: ['memory'],
        pauseMs: 50,
        changes: CHANGES,
        timeoutMs: 60_000,
      });
      await load.closeWatches('memory');
      await delay(500, undefined, { signal });
    });
    peaks.push(peak);
  }
  const growth = Math.max(0, (peaks.at(-1) ?? 0) - (peaks[1] ?? 0));
  return {
    ...below(
      'gateway: growth of memory from the second round of requests to the last',
      growth * 1e6,
      FLAT_MB * 1e6,
      megabytes,
    ),
    note: `peaks of the rounds: ${peaks.map((peak) => `${peak.toFixed(0)} MB`).join(', ')}`,
  };
}
