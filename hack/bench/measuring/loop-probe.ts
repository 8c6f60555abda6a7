// Preload module of the benchmarked server: measures the event-loop delays, and collects garbage. The benchmark controls
// it over the IPC channel. The module can stop measuring, because its timer costs CPU.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Delays since the previous report in ms, minus the timer period of 1 ms. */
export interface LoopDelays {
  readonly maxMs: number;
  readonly p99Ms: number;
}

const PERIOD_MS = 1;
const histogram = monitorEventLoopDelay({ resolution: PERIOD_MS });
histogram.enable();

function delays(): LoopDelays {
  const milliseconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - PERIOD_MS);
  const seen = { maxMs: milliseconds(histogram.max), p99Ms: milliseconds(histogram.percentile(99)) };
  histogram.reset();
  return seen;
}

/** Without the flag at the start, so that it changes nothing before. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

process.on('message', (message) => {
  if (message === 'loop-delays') process.send?.(delays());
  if (message === 'stop') process.send?.(histogram.disable());
  if (message === 'collect-garbage') {
    collectGarbage();
    process.send?.(process.memoryUsage());
  }
});
// The channel must not keep the server alive.
process.channel?.unref();
