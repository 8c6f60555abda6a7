import { nextRound } from './event-loop.ts';

/**
 * Keeps long work from blocking the event loop: between two pieces of it, `breathe` lets everything else run once
 * the slice is used up.
 */
export class Pacer {
  readonly #sliceMs: number;
  /** Milliseconds. */
  readonly #now: () => number;
  #sliceEnd: number;

  constructor(sliceMs = 8, now: () => number = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
    this.#sliceEnd = now() + sliceMs;
  }

  /** True when `breathe` would wait: lets a loop skip the promise. */
  get spent(): boolean {
    return this.#now() >= this.#sliceEnd;
  }

  async breathe(): Promise<void> {
    await nextRound();
    this.#sliceEnd = this.#now() + this.#sliceMs;
  }
}
