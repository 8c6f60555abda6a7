import { performance } from 'node:perf_hooks';
import { setImmediate as immediate } from 'node:timers/promises';

/** How often the event loop has looked for what came in. */
export function round(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}

/**
 * Resolves when everything else has had its turn. The next immediate alone is too early: one that is asked for while
 * something comes in runs before anything else comes in.
 */
export async function nextRound(): Promise<void> {
  const last = round();
  do await immediate();
  while (round() === last);
}
