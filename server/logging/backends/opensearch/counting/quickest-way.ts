// Which of some ways to ask the same is quickest, by what they took.
import type { Way } from './ways.ts';

/** So often each is tried: what is asked first in a way also waits for what the store keeps for the next. */
const TRIES = 2;
/** How much a single time that is longer counts: something else may have kept the store busy. */
const SHARE = 0.25;

interface Trial {
  readonly way: Way;
  tries: number;
  ms: number;
}

export class QuickestWay {
  readonly #trials: readonly Trial[];

  constructor(ways: readonly Way[]) {
    this.#trials = ways.map((way) => ({ way, tries: 0, ms: Number.POSITIVE_INFINITY }));
  }

  /** To be taken now; undefined where there are none. */
  get way(): Way | undefined {
    const untried = this.#trials.filter(({ tries }) => tries < TRIES);
    const best =
      untried.length > 0 ? least(untried, ({ tries }) => tries) : least(this.#trials, ({ ms }) => ms);
    return best?.way;
  }

  took(way: Way, ms: number): void {
    const trial = this.#trials.find((one) => one.way === way);
    if (!trial) return;
    trial.ms = trial.tries === 0 ? ms : Math.min(ms, trial.ms + (ms - trial.ms) * SHARE);
    trial.tries++;
  }
}

function least<Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined {
  return items.reduce<Item | undefined>(
    (best, item) => (best === undefined || of(item) < of(best) ? item : best),
    undefined,
  );
}
