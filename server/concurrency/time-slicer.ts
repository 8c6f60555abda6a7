import { nextRound, round } from './event-loop.ts';

/** Slice of queries that run beside latency-sensitive requests. */
const QUERY_SLICE_MS = 0.2;
/** Slice of background work. */
export const BACKGROUND_SLICE_MS = 8;
/** Share of a slice after which `next` yields: one step of work may take some tenths of a millisecond. */
const REUSABLE_SHARE = 0.25;

/**
 * Time-slices the event loop between concurrent tasks. Each task waits for `next`, then works synchronously. Once all tasks
 * together have used up a slice, the event loop handles other events before the next slice.
 */
export class TimeSlicer {
  readonly #sliceMs: number;
  /** Monotonic clock in ms. */
  readonly #now: () => number;
  /** The event-loop round of the current slice, and its start. */
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

  /** Resolves when the task may continue, in the order of the calls. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => this.#next());
    return this.#last;
  }

  async #next(): Promise<void> {
    await microtasksDone();
    // In a round without a slice, other events may already have taken time.
    if (this.#round === round() && this.#used() < this.#sliceMs * REUSABLE_SHARE) return;
    await nextRound();
    this.#beginSlice();
  }

  /** In ms. The first call in a round of the event loop begins a slice. */
  #used(): number {
    if (this.#round !== round()) this.#beginSlice();
    return this.#now() - this.#begin;
  }

  #beginSlice(): void {
    this.#round = round();
    this.#begin = this.#now();
  }
}

/** The previous task works in microtasks, which count towards the slice. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
