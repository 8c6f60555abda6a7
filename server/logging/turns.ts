import { Pacer } from '../cluster/pacer.ts';

/** What a request that asks for no logs may have to wait for those that do. */
const SLICE_MS = 1;

/**
 * Lets many queries work in turn without keeping the event loop from everybody else: each waits for its turn, works
 * at once, and when all of them together have used up a slice of time, everything else runs before the next one.
 */
export class Turns {
  readonly #pacer: Pacer;
  #last: Promise<void> = Promise.resolve();

  constructor(pacer = new Pacer(SLICE_MS)) {
    this.#pacer = pacer;
  }

  /** Whether work that is under way has used up the slice, and should wait for its next turn. */
  get spent(): boolean {
    return this.#pacer.spent;
  }

  /** Resolves when it is the caller's turn; its work is what it does without waiting for anything. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => (this.#pacer.spent ? this.#pacer.breathe() : undefined));
    return this.#last;
  }
}
