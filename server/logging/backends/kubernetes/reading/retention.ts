// Whether a kubelet has thrown away a part of what was asked for. It does not say so; it follows from the time of the
// first line that it has, and from when the container started.
import { instantOf } from '../../../instant.ts';
import type { Instant } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';
import { shifted } from './kubelet-time.ts';

/** How long a container may take to write its first line. */
const QUIET_START_S = 60;
/** A gap too small to ask for the very first line. */
const NO_GAP_S = 1;

/** Whether only the very first line of the log can tell, because the lines were asked for from `begin` on. */
export function needsFirstLine(source: LogSource, begin: Instant, first: Instant | undefined): boolean {
  const { startedAt } = source.run;
  if (startedAt === undefined || startedAt >= Date.parse(begin)) return false;
  return first === undefined || first > shifted(begin, NO_GAP_S);
}

/** From when on the log is whole, when that is later than `begin`; undefined when nothing is missing. */
export function missingBefore(
  source: LogSource,
  begin: Instant,
  kept: Instant | undefined,
): Instant | undefined {
  const { startedAt } = source.run;
  if (startedAt === undefined) return undefined;
  const started = instantOf(Math.max(0, startedAt));
  if (source.predecessors && started > begin) return started;
  if (kept === undefined || kept <= shifted(begin, NO_GAP_S)) return undefined;
  return kept > shifted(started, QUIET_START_S) ? kept : undefined;
}
