// Loaded into the measured server with --import: answers over the IPC channel how long its event loop was blocked.
// It looks from outside, so the server needs no code for it and runs as it always does.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Of the delays since the last question, in ms; the timer's own period of 1 ms is taken off. */
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
// A listener holds the channel open, and the channel the process: the server must be able to end.
process.channel?.unref();
