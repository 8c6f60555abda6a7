// TimeSlicer: lets long synchronous work yield to the event loop after each time slice.
import { nextRound, round } from './event-loop.ts';

/** Time slice of queries. Short, because it delays latency-sensitive requests. */
const QUERY_SLICE_MS = 0.2;
/** Time slice of background work, in ms. */
export const BACKGROUND_SLICE_MS = 8;
/** Share of a used time slice above which the next task gets a new slice, because its first step may take tenths of a millisecond. */
const REUSABLE_SHARE = 0.25;

/**
 * Shares time slices between concurrent tasks. Each task waits for `next`, then works synchronously until `spent` is true. Once all
 * tasks together have used up a time slice, the event loop handles other events before the next slice.
 */
export class TimeSlicer {
  readonly #sliceMs: number;
  /** Monotonic clock in ms. */
  readonly #now: () => number;
  /** The iteration of the event loop in which the current slice began. */
  #round = -1;
  #begin = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(sliceMs = QUERY_SLICE_MS, now: () => number = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
  }

  /** True when the slice is used up: the task should call `next` before it continues. */
  get spent(): boolean {
    return this.#used() >= this.#sliceMs;
  }

  /** Resolves when the task may continue. Concurrent calls resolve in order. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => this.#next());
    return this.#last;
  }

  async #next(): Promise<void> {
    await microtasksDone();
    // A slice is reused only in the same iteration of the event loop, because other events take time in a new one.
    if (this.#round === round() && this.#used() < this.#sliceMs * REUSABLE_SHARE) return;
    await nextRound();
    this.#beginSlice();
  }

  /** Returns the used time of the slice, in ms. The first call in an iteration of the event loop begins a new slice. */
  #used(): number {
    if (this.#round !== round()) this.#beginSlice();
    return this.#now() - this.#begin;
  }

  #beginSlice(): void {
    this.#round = round();
    this.#begin = this.#now();
  }
}

/** Resolves after all pending microtasks, in which the previous task works, so that their time counts towards the slice. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
