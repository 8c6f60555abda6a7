// TimeSlicer: lets long synchronous work yield to the event loop after each time slice. Callers share the slices fairly.

import { Seats } from '../admission/seats.ts';
import { NEVER_ABORTED } from './aborted.ts';
import { nextRound, round } from './event-loop.ts';

/** Time slice of queries. Short, because it delays latency-sensitive requests. */
const QUERY_SLICE_MS = 0.2;
/** Time slice of background work, in ms. */
const BACKGROUND_SLICE_MS = 8;
/** Share of a used time slice above which the next task gets a new slice, because its first step may take tenths of a millisecond. */
const REUSABLE_SHARE = 0.25;

/** Whose time a task uses, and when it ends: usually the request that needs the result. */
export interface Task {
  /** Absent for work of the server itself. */
  readonly caller?: string | undefined;
  /** Absent for work that is always completed. Read only by tasks that have used up a slice, because a request creates it on first use. */
  readonly signal?: AbortSignal;
}

/** The time slices of a task. */
export interface TimeSlices {
  /** True when the slice is used up: the task should call `next` before it continues. */
  readonly spent: boolean;
  /** Resolves when the task may continue. Rejects with the reason of the signal when the result is no longer needed. */
  next(): Promise<void>;
}

/**
 * Shares time slices between concurrent tasks. Each task waits for `next`, then works synchronously until `spent` is true. Once all
 * tasks together have used up a time slice, the event loop handles other events before the next slice. Callers take turns, however
 * many tasks each of them has.
 */
export class TimeSlicer {
  readonly #sliceMs: number;
  /** Monotonic clock in ms. */
  readonly #now: () => number;
  /** The iteration of the event loop in which the current slice began. */
  #round = -1;
  #begin = 0;
  readonly #turns = new Seats({ capacity: 1, sharing: 'queue', refusal: () => new Error('no time slice') });

  constructor(sliceMs = QUERY_SLICE_MS, now: () => number = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
  }

  get spent(): boolean {
    // Without the round, which takes longer to read than the clock, while the slice cannot be used up.
    return this.#now() - this.#begin >= this.#sliceMs && this.#used() >= this.#sliceMs;
  }

  /** The slices of a task. */
  of(task: Task): TimeSlices {
    return new TaskSlices(this, task);
  }

  /** Concurrent calls of one caller resolve in order. */
  async next({ caller = '', signal = NEVER_ABORTED }: Task): Promise<void> {
    signal.throwIfAborted();
    using _turn = await this.#turns.take(caller, { signal });
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

/** The slices of background work, such as the responses that the caches read: all of it together takes one slice at a time. */
export const backgroundSlicer = new TimeSlicer(BACKGROUND_SLICE_MS);

class TaskSlices implements TimeSlices {
  readonly #slicer: TimeSlicer;
  readonly #task: Task;

  constructor(slicer: TimeSlicer, task: Task) {
    this.#slicer = slicer;
    this.#task = task;
  }

  get spent(): boolean {
    return this.#slicer.spent;
  }

  next(): Promise<void> {
    return this.#slicer.next(this.#task);
  }
}

/** Resolves after all pending microtasks, in which the previous task works, so that their time counts towards the slice. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
