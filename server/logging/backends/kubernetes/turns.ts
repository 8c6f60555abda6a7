import { Pacer } from '../../../cluster/pacer.ts';

/**
 * Lets many readers work in turn without keeping the event loop from everybody else: each waits for its turn, works
 * at once, and when all of them together have used up a slice of time, everything else runs before the next one.
 */
export class Turns {
  readonly #pacer: Pacer;
  #last: Promise<void> = Promise.resolve();

  constructor(pacer = new Pacer()) {
    this.#pacer = pacer;
  }

  /** Resolves when it is the caller's turn; its work is what it does without waiting for anything. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => (this.#pacer.spent ? this.#pacer.breathe() : undefined));
    return this.#last;
  }
}
