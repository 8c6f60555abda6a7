import { nextRound } from './event-loop.ts';

/**
 * Keeps long work from blocking the event loop: between two pieces of it, `breathe` lets everything else run once
 * the slice is used up.
 */
export class Pacer {
  readonly #sliceMs: number;
  #sliceEnd: number;

  constructor(sliceMs = 8) {
    this.#sliceMs = sliceMs;
    this.#sliceEnd = performance.now() + sliceMs;
  }

  /** True when `breathe` would wait: lets a loop skip the promise. */
  get spent(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  async breathe(): Promise<void> {
    await nextRound();
    this.#sliceEnd = performance.now() + this.#sliceMs;
  }
}
