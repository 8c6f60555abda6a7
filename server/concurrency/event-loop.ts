// Functions that count the iterations of the event loop, and wait for the next iteration.
import { performance } from 'node:perf_hooks';
import { setImmediate as immediate } from 'node:timers/promises';

/** The number of event-loop iterations so far. */
export function round(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}

/**
 * Resolves in the next iteration of the event loop, after pending I/O. setImmediate is not sufficient: after an I/O callback, it
 * runs in the same iteration.
 */
export async function nextRound(): Promise<void> {
  const last = round();
  do await immediate();
  while (round() === last);
}
