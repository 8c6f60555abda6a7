// The pace at which followers ask, all of them together: however many there are, and however slow the store is, they
// take no more of it than about one of its threads.
import { Slots } from '../../../../concurrency/slots.ts';

/** Requests under way or pausing, at a time. */
const LANES = 5;
/** A fifth of the time is used, four fifths are pauses. */
const REST = 4;
const LONGEST_REST_MS = 5_000;

/** The pause, in ms, after a request that took this long. */
export function restAfter(tookMs: number): number {
  return Math.min(LONGEST_REST_MS, tookMs * REST);
}

export class Pace {
  readonly #now: () => number;
  readonly #lanes = new Slots(LANES);

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Asks when it is its turn. Rejects as `ask` does, and when the signal is aborted before. */
  async turn<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
    const lane = await this.#lanes.take(signal);
    const began = this.#now();
    try {
      return await ask();
    } finally {
      setTimeout(() => lane[Symbol.dispose](), restAfter(this.#now() - began)).unref();
    }
  }
}
