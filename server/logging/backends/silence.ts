// Detection of a log store that does not respond to any request.

/**
 * Longer than the interval, timeout and grace of health checks together (15 s, 5 s and 1 s in store-health.ts). A store that
 * is only slow with one query has responded to a health check within this time.
 */
const UNRESPONSIVE_MS = 22_000;

/** Time since the last response of a log store to any request. It distinguishes an unresponsive store from a slow query. */
export class Silence {
  readonly #now: () => number;
  /** Time of the first request since the last response. */
  #since: number | undefined;

  /** `now`: a clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Time in ms without a response; 0 while the store may only be slow. */
  get ms(): number {
    const ms = this.#since === undefined ? 0 : this.#now() - this.#since;
    return ms < UNRESPONSIVE_MS ? 0 : ms;
  }

  requestSent(): void {
    this.#since ??= this.#now();
  }

  responded(): void {
    this.#since = undefined;
  }
}
