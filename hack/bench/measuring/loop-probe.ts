// Preload module that measures the event-loop delays of the benchmarked server. The module reports the delays over
// the IPC channel.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Delays since the previous report in ms, minus the timer period of 1 ms. */
export interface LoopDelays {
  readonly maxMs: number;
  readonly p99Ms: number;
}

const PERIOD_MS = 1;
const histogram = monitorEventLoopDelay({ resolution: PERIOD_MS });
histogram.enable();

process.on('message', (message) => {
  if (message !== 'loop-delays') return;
  const milliseconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - PERIOD_MS);
  const delays: LoopDelays = {
    maxMs: milliseconds(histogram.max),
    p99Ms: milliseconds(histogram.percentile(99)),
  };
  histogram.reset();
  process.send?.(delays);
});
// The channel must not keep the server alive.
process.channel?.unref();
