import { nextRound, round } from './event-loop.ts';

/** What a request that asks for no logs may have to wait for those that do. */
const SLICE_MS = 0.2;
/** Of a slice: with more of it used up, what takes some tenths of a millisecond in one go is put off to the next one. */
const HARDLY_BEGUN = 0.25;

/**
 * Lets many queries work in turn without keeping the event loop from everybody else: each waits for its turn, works
 * at once, and when all of them together have used up a slice of time, everything else runs before the next one.
 */
export class Turns {
  readonly #sliceMs: number;
  /** Milliseconds. */
  readonly #now: () => number;
  /** In which round of the event loop the slice began, and when. */
  #round = -1;
  #begin = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(sliceMs = SLICE_MS, now: () => number = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
  }

  /** Whether work that is under way has used up the slice, and should wait for its next turn. */
  get spent(): boolean {
    return this.#used() >= this.#sliceMs;
  }

  /** Resolves when it is the caller's turn; its work is what it does without waiting for anything. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => this.#turn());
    return this.#last;
  }

  async #turn(): Promise<void> {
    await workDone();
    // What came in before it in a round that nobody had a turn in took time too, which nobody has counted.
    if (this.#round === round() && this.#used() < this.#sliceMs * HARDLY_BEGUN) return;
    await nextRound();
    this.#beginSlice();
  }

  /** Milliseconds; what comes first in a round of the event loop begins a slice. */
  #used(): number {
    if (this.#round !== round()) this.#beginSlice();
    return this.#now() - this.#begin;
  }

  #beginSlice(): void {
    this.#round = round();
    this.#begin = this.#now();
  }
}

/** What the one before does with its turn comes first, however many promises lie between: it counts for the slice. */
function workDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
