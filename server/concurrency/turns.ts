import { setImmediate as nextTurn } from 'node:timers/promises';

/** What a request that asks for no logs may have to wait for those that do. */
const SLICE_MS = 0.2;

/**
 * Lets many queries work in turn without keeping the event loop from everybody else: each waits for its turn, works
 * at once, and when all of them together have used up a slice of time, everything else runs before the next one.
 */
export class Turns {
  readonly #sliceMs: number;
  /** Undefined while nothing was done since everything else has run. */
  #sliceEnd: number | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** Whether work that is under way has used up the slice, and should wait for its next turn. */
  get spent(): boolean {
    if (this.#sliceEnd !== undefined) return performance.now() >= this.#sliceEnd;
    this.#sliceEnd = performance.now() + this.#sliceMs;
    setImmediate(() => {
      this.#sliceEnd = undefined;
    });
    return this.#sliceMs === 0;
  }

  /** Resolves when it is the caller's turn; its work is what it does without waiting for anything. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => (this.spent ? nextTurn() : undefined));
    return this.#last;
  }
}
