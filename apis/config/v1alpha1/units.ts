// Durations and periods in the configuration file: the `format` in the schema of an option selects the maximum.
import { parseDuration } from '../../reading/duration.ts';

/** Node timers with a longer delay fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_PERIOD_MS = 3650 * 86_400_000;

/** By format: parsers that return undefined for an invalid amount. Periods can exceed timers, because they are compared with clocks. */
export const AMOUNTS: ReadonlyMap<unknown, (text: string) => number | undefined> = new Map([
  ['duration', (text) => milliseconds(text, MAX_TIMER_MS)],
  ['period', (text) => milliseconds(text, MAX_PERIOD_MS)],
]);

function milliseconds(text: string, max: number): number | undefined {
  const parsed = Math.round(parseDuration(text, { days: true }) ?? -1);
  return parsed >= 0 && parsed <= max ? parsed : undefined;
}
