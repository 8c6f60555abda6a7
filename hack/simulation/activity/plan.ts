// The order of the incidents in a lively cluster. The plan depends only on the seed.
import type { Random } from '../../log-data/random.ts';

export type Incident = 'roll-out' | 'outage' | 'job' | 'scaling' | 'memory-pressure';

interface PlannedIncident {
  readonly incident: Incident;
  /** Time before the next incident, in ms. */
  readonly pauseMs: number;
}

/** The order of the first round. It takes less than a minute, so that a newcomer sees each incident within the first minute. */
const FIRST_ROUND: readonly Incident[] = [
  'roll-out',
  'outage',
  'job',
  'scaling',
  'roll-out',
  'memory-pressure',
  'job',
  'scaling',
];
const SHORTEST_PAUSE_MS = 4_000;
const LONGEST_PAUSE_MS = 7_000;
/** Later rounds are slower, because most of their changes happen unwatched. */
const LATER_FACTOR = 3;

/** Endless: the first round, then slower rounds in random order. */
export function* planIncidents(random: Random): Generator<PlannedIncident, never, undefined> {
  let [round, factor] = [[...FIRST_ROUND], 1];
  for (;;) {
    for (const incident of round) {
      const pauseMs = SHORTEST_PAUSE_MS + random.below(LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS);
      yield { incident, pauseMs: factor * pauseMs };
    }
    [round, factor] = [random.shuffled(FIRST_ROUND), LATER_FACTOR];
  }
}
