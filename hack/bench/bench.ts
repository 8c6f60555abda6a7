// `npm run bench`: measures ks-apiserver and kube-apiserver with the same requests. The output is a table of the
// results and their ratios.
import { KUBERNETES_VERSION } from '../control-plane/build.ts';
import { onStopSignal } from '../system/stop-signal.ts';
import { formatElapsed, printProgress } from '../terminal/progress.ts';
import { runScript } from '../terminal/script.ts';
import { describeMachine } from './measuring/machine.ts';
import { BENCH, type Group, type Options, readOptions } from './options.ts';
import { type MeasuredGroup, table, writeReport } from './report.ts';
import { accelerationRows } from './rows/acceleration.ts';
import { exploreRows } from './rows/explore.ts';
import { gatewayRows } from './rows/gateway.ts';
import { getRows } from './rows/get.ts';
import { listRows } from './rows/list.ts';
import { loginRows } from './rows/logins.ts';
import { logRows } from './rows/logs.ts';
import { memoryRows } from './rows/memory.ts';
import { platformRows } from './rows/platform.ts';
import { resourceRows } from './rows/resources.ts';
import type { Row } from './rows/row.ts';
import { signOnRows } from './rows/sign-ons.ts';
import { syncRows } from './rows/sync.ts';
import { tokenRows } from './rows/tokens.ts';
import { watchRows } from './rows/watch.ts';
import { sameNodes } from './scene/comparison.ts';
import { type Scene, withScene } from './scene/scene.ts';

const ROWS: Readonly<Record<Group, (scene: Scene) => Promise<readonly Row[]>>> = {
  sync: syncRows,
  list: listRows,
  get: getRows,
  tokens: tokenRows,
  logins: loginRows,
  'sign-ons': signOnRows,
  platform: platformRows,
  memory: memoryRows,
  watch: watchRows,
  logs: logRows,
  resources: resourceRows,
  gateway: gatewayRows,
  acceleration: accelerationRows,
  explore: exploreRows,
};

/** Aborts a bench that hangs; far longer than a whole run. */
const BOUND_MS = 60 * 60_000;

async function bench(options: Options, signal: AbortSignal): Promise<void> {
  const machine = await describeMachine();
  const began = performance.now();
  const print = printProgress(process.stderr);
  const progress = (line: string, transient = false): void =>
    print(`${formatElapsed(performance.now() - began).padStart(6)}  ${line}`, transient);
  const date = new Date().toISOString();
  const { loadBefore, processor, ...hardware } = machine;
  const groups: Partial<Record<Group, MeasuredGroup>> = {};
  await withScene(options, machine, progress, signal, async (scene) => {
    progress('comparing the nodes of both sides');
    await sameNodes(scene);
    for (const group of options.groups) {
      progress(`measuring: ${group}`);
      const measured = await ROWS[group](scene);
      process.stdout.write(`${table(measured)}\n`);
      groups[group] = { date, loadBefore, processor, rows: measured };
      signal.throwIfAborted();
    }
    progress('comparing the nodes of both sides again');
    await sameNodes(scene);
  });
  process.stdout.write(`\n${table(Object.values(groups).flatMap(({ rows }) => rows))}\n`);
  if (options.write) {
    const { nodes } = options;
    await writeReport({ machine: hardware, nodes, kubernetes: `v${KUBERNETES_VERSION}`, groups });
    progress('written: results.md, results.json and charts of hack/bench');
  }
}

await runScript(BENCH, async (given) => {
  const options = readOptions(given);
  const stopped = onStopSignal();
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(BOUND_MS)]);
  await bench(options, signal).catch((error: unknown) => {
    // An error after an abort is a consequence of it.
    stopped.throwIfAborted();
    throw error;
  });
  return 0;
});
