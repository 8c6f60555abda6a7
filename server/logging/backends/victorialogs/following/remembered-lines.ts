// How many lines are remembered for all who follow: what was given in the last seconds, so that it is not given again.
import { newTooManyRequests, StatusError } from '../../../../../apis/meta/v1/errors.ts';

export function isTooMuchToRemember(error: unknown): boolean {
  return error instanceof StatusError && error.code === 429;
}

export class RememberedLines {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** Throws TooManyRequests when there is no room for one more. */
  add(): void {
    if (this.#count >= this.#most)
      throw newTooManyRequests('more lines come than can be followed at a time; ask for fewer of them', 10);
    this.#count++;
  }

  forget(lines: number): void {
    this.#count -= lines;
  }
}
