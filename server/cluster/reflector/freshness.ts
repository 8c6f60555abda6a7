import type { ReflectorObserver } from './reflector.ts';

/** Age limit of the last proof, in ms, for reflectors with SHORT_WATCHES. */
export const STALE_AFTER_MS = 30_000;

/**
 * The time since a reflector last had proof that its sink is up to date: a list, an event, a bookmark, or the response
 * headers of a watch from the sink's own resourceVersion. The headers count because a quiet kind has no events, and its
 * next bookmark can be 10 seconds away. They no longer count once that watch fails: an expired resourceVersion is
 * reported after the headers, and means that the sink has missed events.
 */
export class Freshness implements ReflectorObserver {
  readonly #monotonic: () => number;
  #progressedAt = Number.NEGATIVE_INFINITY;
  #watchBeganAt = Number.NEGATIVE_INFINITY;

  /** `monotonic`: a clock in ms that never goes back. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Whether the last proof is at most `ms` old. */
  within(ms: number): boolean {
    return this.#monotonic() - Math.max(this.#progressedAt, this.#watchBeganAt) <= ms;
  }

  progressed(): void {
    this.#progressedAt = this.#monotonic();
  }

  watchBegan(): void {
    this.#watchBeganAt = this.#monotonic();
  }

  watchEnded(cause: string): void {
    if (cause !== 'end') this.#watchBeganAt = Number.NEGATIVE_INFINITY;
  }
}
