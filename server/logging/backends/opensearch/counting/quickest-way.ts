// Which of some ways to ask the same is quickest, by what they took.
import type { Way } from './ways.ts';

/** So often each is tried: what is asked first in a way also waits for what the store keeps for the next. */
const TRIES = 2;
/** How much a single time that is longer counts: something else may have kept the store busy. */
const SHARE = 0.25;

/**
 * After how many questions in another way one is tried again: what it took at first, a store that had just started may
 * have taken for anything. Twice as many after each time that it was not quicker.
 */
const AGAIN = { first: 8, most: 128 };

interface Trial {
  readonly way: Way;
  tries: number;
  ms: number;
  /** Questions in another way since it was tried, and how many there may be. */
  passed: number;
  patience: number;
}

export class QuickestWay {
  readonly #trials: readonly Trial[];

  constructor(ways: readonly Way[]) {
    this.#trials = ways.map((way) => ({
      way,
      tries: 0,
      ms: Number.POSITIVE_INFINITY,
      passed: 0,
      patience: AGAIN.first,
    }));
  }

  /** To be taken now; undefined where there are none. */
  get way(): Way | undefined {
    const untried = this.#trials.filter(({ tries }) => tries < TRIES);
    if (untried.length > 0) return least(untried, ({ tries }) => tries)?.way;
    const due = this.#trials.find(({ passed, patience }) => passed >= patience);
    return (due ?? least(this.#trials, ({ ms }) => ms))?.way;
  }

  took(way: Way, ms: number): void {
    for (const trial of this.#trials) {
      if (trial.way === way) again(trial, ms);
      else trial.passed++;
    }
  }
}

function again(trial: Trial, ms: number): void {
  if (trial.passed >= trial.patience) trial.patience = Math.min(AGAIN.most, trial.patience * 2);
  trial.passed = 0;
  trial.ms = trial.tries === 0 ? ms : Math.min(ms, trial.ms + (ms - trial.ms) * SHARE);
  trial.tries++;
}

function least<Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined {
  return items.reduce<Item | undefined>(
    (best, item) => (best === undefined || of(item) < of(best) ? item : best),
    undefined,
  );
}
