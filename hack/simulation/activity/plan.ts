// The order of the incidents in a lively cluster. The plan depends only on the seed.
import type { Random } from '../../log-data/random.ts';

export type Incident = 'roll-out' | 'outage' | 'job' | 'scaling' | 'memory-pressure';

export interface PlannedIncident {
  readonly incident: Incident;
  /** Time before the next incident, in ms. */
  readonly pauseMs: number;
}

/** One round takes less than a minute, so that a newcomer sees each incident within the first minute. */
const ROUND: readonly Incident[] = [
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

/** Endless: a first round in the order of ROUND, then rounds in random order. */
export function* planIncidents(random: Random): Generator<PlannedIncident, never, undefined> {
  for (let round = [...ROUND]; ; round = random.shuffled(ROUND)) {
    for (const incident of round) {
      const pauseMs = SHORTEST_PAUSE_MS + random.below(LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS);
      yield { incident, pauseMs };
    }
  }
}
