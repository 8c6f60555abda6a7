/**
 * Longer than from one health check to the end of the next: a store that is only slow with one query has responded to a
 * health check by then.
 */
const UNRESPONSIVE_MS = 20_000;

/** Measures how long a store has responded to nothing, to tell an unresponsive store from a slow query. */
export class Silence {
  readonly #now: () => number;
  /** Time of the first request since the last response. */
  #since: number | undefined;

  /** `now`: a clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds without any response; 0 while the store may only be slow. */
  get ms(): number {
    const ms = this.#since === undefined ? 0 : this.#now() - this.#since;
    return ms < UNRESPONSIVE_MS ? 0 : ms;
  }

  requestSent(): void {
    this.#since ??= this.#now();
  }

  /** Any response arrived. */
  responded(): void {
    this.#since = undefined;
  }
}
