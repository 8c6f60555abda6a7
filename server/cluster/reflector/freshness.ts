import type { ReflectorObserver } from './reflector.ts';

/** Age limit of the last proof, in ms, for reflectors with SHORT_WATCHES. */
export const STALE_AFTER_MS = 30_000;

/**
 * The time since a reflector last had proof that its sink is up to date: a list, an event, a bookmark, or the response
 * headers of a watch from the sink's own resourceVersion. The headers count because a quiet kind has no events, and its
 * next bookmark can be 10 seconds away.
 */
export class Freshness implements ReflectorObserver {
  readonly #monotonic: () => number;
  #provenAt = Number.NEGATIVE_INFINITY;

  /** `monotonic`: a clock in ms that never goes back. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Whether the last proof is at most `ms` old. */
  within(ms: number): boolean {
    return this.#monotonic() - this.#provenAt <= ms;
  }

  progressed(): void {
    this.#provenAt = this.#monotonic();
  }

  watchBegan(): void {
    this.#provenAt = this.#monotonic();
  }
}
