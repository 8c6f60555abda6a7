import { Backoff } from '../../concurrency/backoff.ts';
import { isHistoryLost, retryAfterMs } from './reflector-failure.ts';
import type { ReflectorTuning } from './reflector-tuning.ts';

type Tuning = Pick<ReflectorTuning, 'healthyMs' | 'initialBackoffMs' | 'maxBackoffMs' | 'random'>;

/** How long a reflector waits before its next attempt. */
export class ReflectorBackoff {
  readonly #tuning: Tuning;
  readonly #backoff: Backoff;
  readonly #monotonic: () => number;
  /** When there was nothing to resume the last time. */
  #historyLost = Number.NEGATIVE_INFINITY;

  constructor(tuning: Tuning, monotonic: () => number = () => performance.now()) {
    const { initialBackoffMs: initialMs, maxBackoffMs: maxMs, random } = tuning;
    this.#tuning = tuning;
    this.#backoff = new Backoff({ initialMs, maxMs, random });
    this.#monotonic = monotonic;
  }

  /** In ms, behind an attempt that lasted for `livedMs`; `failure` is undefined when it ended in order. */
  after(failure: unknown, livedMs: number): number {
    const { healthyMs, maxBackoffMs } = this.#tuning;
    const healthy = livedMs >= healthyMs;
    if (healthy) this.#backoff.reset();
    if (failure === undefined && healthy) return 0;
    if (isHistoryLost(failure)) this.#loseHistory();
    return Math.max(this.#backoff.next(), retryAfterMs(failure, maxBackoffMs));
  }

  /**
   * A cluster that says that it knows our past no longer is back: the waits while it was away are over, and until the
   * list all readers get the old state. Not twice in a row: lists that are outdated at once are to become fewer.
   */
  #loseHistory(): void {
    const before = this.#historyLost;
    this.#historyLost = this.#monotonic();
    if (this.#historyLost - before >= this.#tuning.healthyMs) this.#backoff.reset();
  }
}
