// Failures of a reflector: what each means for the next attempt, and when that attempt takes place.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { StalledError } from '../connection/response-body.ts';
import type { ReflectorTuning } from './reflector-tuning.ts';

/** A streaming list ended without its last bookmark. A truncated stream can end without an error. */
export class TruncatedListError extends Error {
  constructor() {
    super('the streaming list ended before its last bookmark');
    this.name = 'TruncatedListError';
  }
}

export class VersionRegressionError extends Error {
  constructor(ours: string, theirs: string) {
    super(
      `the resourceVersion went backwards from ${ours} to ${theirs}: the cluster has a different history`,
    );
    this.name = 'VersionRegressionError';
  }
}

/** The sink failed and may have missed a change; only a relist is safe. */
export class SinkError extends Error {
  constructor(cause: unknown) {
    super('the sink failed on an object', { cause });
    this.name = 'SinkError';
  }
}

export function guardSink(write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new SinkError(error);
  }
}

export function causeOf(failure: unknown): string {
  if (isHistoryGone(failure)) return 'expired';
  if (failure instanceof VersionRegressionError) return 'backwards';
  return failure instanceof StalledError ? 'stalled' : 'error';
}

export function retryAfterMs(failure: unknown, maxMs: number): number {
  const seconds =
    failure instanceof StatusError && failure.code === 429 && failure.details?.retryAfterSeconds;
  return Math.min((seconds || 0) * 1000, maxMs);
}

/** The cluster no longer has the changes after our resourceVersion. */
export function isHistoryGone(failure: unknown): boolean {
  return failure instanceof StatusError && failure.code === 410;
}

/** The watch cannot resume: the cluster has compacted its history, or has a different one after a restore. */
export function isHistoryLost(failure: unknown): boolean {
  return isHistoryGone(failure) || failure instanceof VersionRegressionError;
}

/** True when the cluster does not support streaming lists, or has them disabled: it rejects the parameters. */
export function isStreamRefused(failure: unknown): boolean {
  return failure instanceof StatusError && [400, 405, 422, 501].includes(failure.code);
}

type Tuning = Pick<ReflectorTuning, 'healthyMs' | 'initialBackoffMs' | 'maxBackoffMs' | 'random'>;

/** The delay before the next attempt of a reflector. */
export class ReflectorBackoff {
  readonly #tuning: Tuning;
  readonly #backoff: Backoff;
  readonly #monotonic: () => number;
  /** Time of the last loss of history. */
  #historyLost = Number.NEGATIVE_INFINITY;

  constructor(tuning: Tuning, monotonic: () => number = () => performance.now()) {
    const { initialBackoffMs: initialMs, maxBackoffMs: maxMs, random } = tuning;
    this.#tuning = tuning;
    this.#backoff = new Backoff({ initialMs, maxMs, random });
    this.#monotonic = monotonic;
  }

  /** Returns the delay in ms after an attempt that lasted `livedMs`; `failure` is undefined after a normal end. */
  after(failure: unknown, livedMs: number): number {
    const { healthyMs, maxBackoffMs } = this.#tuning;
    const healthy = livedMs >= healthyMs;
    if (healthy) this.#backoff.reset();
    if (failure === undefined && healthy) return 0;
    if (isHistoryLost(failure)) this.#loseHistory();
    return Math.max(this.#backoff.next(), retryAfterMs(failure, maxBackoffMs));
  }

  /**
   * An expired resourceVersion proves that the cluster is reachable again, and readers see old state until the
   * relist: reset the backoff. Not twice in a row, so that lists that expire at once become less frequent.
   */
  #loseHistory(): void {
    const before = this.#historyLost;
    this.#historyLost = this.#monotonic();
    if (this.#historyLost - before >= this.#tuning.healthyMs) this.#backoff.reset();
  }
}
