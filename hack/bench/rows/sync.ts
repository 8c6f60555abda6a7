// Benchmark: time from process start until ready, and event-loop blocks. A ready server has a synced cache.
import type { LoopDelays } from '../measuring/loop-probe.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { type AnotherOptions, CORE_NODES, type Scene } from '../scene/scene.ts';
import { atMost, below, milliseconds, type Row } from './row.ts';

const ROUNDS = 5;
const STREAMING_LIST = `${CORE_NODES}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`;

interface Measured {
  readonly ms: number;
  /** Longest event-loop block while modules are loaded, and from listening to ready. */
  readonly loading: number;
  readonly filling: number;
}

export async function syncRows(scene: Scene): Promise<readonly Row[]> {
  const peer = async (): Promise<Measured> => {
    const { ms, objects } = await scene.load.sync(scene.kube, STREAMING_LIST);
    if (objects !== scene.options.nodes) throw new Error(`the streaming list had ${objects} objects`);
    return { ms, loading: 0, filling: 0 };
  };
  const ours = async (): Promise<Measured> => {
    let loading = 0;
    const listening: AnotherOptions['listening'] = async (ask) => {
      loading = ((await ask('loop-delays')) as LoopDelays).maxMs;
    };
    const server = await scene.another({ probed: true, listening });
    const { maxMs: filling } = (await server.ask('loop-delays')) as LoopDelays;
    await server.stop();
    return { ms: server.readyMs, loading, filling };
  };
  const seen = await interleaved(ROUNDS, { peer, ours });
  return [
    {
      ...atMost(
        'start to ready',
        median(seen.peer.map(({ ms }) => ms)),
        median(seen.ours.map(({ ms }) => ms)),
        2,
        milliseconds,
      ),
      note: 'peer: a WatchList; ours: from the start of the process',
      shortfall:
        'before the list request, Node starts, loads about 570 compiled modules and validates the configuration. About 830 modules for serving are loaded while the cluster prepares its list',
    },
    {
      ...below(
        'listening to ready: longest block of the event loop',
        median(seen.ours.map(({ filling }) => filling)),
        50,
        milliseconds,
      ),
      note: `before the server listens, module loading blocks the event loop for ${milliseconds(median(seen.ours.map(({ loading }) => loading)))}`,
    },
  ];
}
