// Measures the time since the data of a reflector was last known to be current.
import type { ReflectorObserver } from './reflector-options.ts';

/** Time in ms after which the data of a reflector with SHORT_WATCHES is stale if there was no proof of freshness. */
export const STALE_AFTER_MS = 30_000;

/**
 * The time since the last proof that the sink of a reflector is up to date. A list, an event and a bookmark are
 * proofs. So are the response headers of a watch from the resourceVersion of the sink, because a resource without
 * changes has no events, and the next bookmark can arrive up to 10 seconds later. If that watch fails, its headers are
 * no proof any more: kube-apiserver reports an expired resourceVersion after the headers, and then the sink has missed
 * events.
 */
export class Freshness implements ReflectorObserver {
  readonly #monotonic: () => number;
  #progressedAt = Number.NEGATIVE_INFINITY;
  #watchBeganAt = Number.NEGATIVE_INFINITY;
  #interrupted = false;
  #failure: unknown;
  readonly #settled = Promise.withResolvers<void>();

  /** `monotonic`: a monotonic clock in ms. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** The time since the last proof, in ms. */
  get ageMs(): number {
    return this.#monotonic() - Math.max(this.#progressedAt, this.#watchBeganAt);
  }

  /**
   * True from the failure of a watch until the next proof. Until then, kube-apiserver may have a different history, because
   * a restore of etcd ends all watches.
   */
  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** Resolves after the first proof or failure. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** The last failure since the last proof. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Returns true if the last proof is at most `ms` old. */
  within(ms: number): boolean {
    return this.ageMs <= ms;
  }

  progressed(): void {
    this.#progressedAt = this.#monotonic();
    this.#interrupted = false;
    this.#failure = undefined;
    this.#settled.resolve();
  }

  watchBegan(): void {
    this.#watchBeganAt = this.#monotonic();
    this.#interrupted = false;
    this.#failure = undefined;
  }

  failed(error: unknown): void {
    this.#failure = error;
    this.#settled.resolve();
  }

  watchEnded(cause: string): void {
    if (cause === 'end') return;
    this.#watchBeganAt = Number.NEGATIVE_INFINITY;
    this.#interrupted = true;
  }
}
