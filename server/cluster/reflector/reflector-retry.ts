// The ways in which following a resource fails, and what each means for the next attempt.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { StalledError } from '../connection/response-body.ts';
import type { ReflectorTuning } from './reflector-tuning.ts';

/** The initial events ended without their bookmark: a stream that is cut off can end without an error. */
export class TruncatedListError extends Error {
  constructor() {
    super('the streaming list ended before its last bookmark');
    this.name = 'TruncatedListError';
  }
}

export class VersionRegressionError extends Error {
  constructor(ours: string, theirs: string) {
    super(
      `the resourceVersion went backwards from ${ours} to ${theirs}: the cluster has another history now`,
    );
    this.name = 'VersionRegressionError';
  }
}

/** The sink failed on an object; it may have missed a change, so only a new list is safe. */
export class SinkError extends Error {
  constructor(cause: unknown) {
    super('an object could not be taken', { cause });
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

/** The cluster no longer has the changes since our resourceVersion. */
export function isHistoryGone(failure: unknown): boolean {
  return failure instanceof StatusError && failure.code === 410;
}

/** Nothing can be resumed: the cluster has let go of our past, or has another one. */
export function isHistoryLost(failure: unknown): boolean {
  return isHistoryGone(failure) || failure instanceof VersionRegressionError;
}

/** True when the cluster knows no streaming list, or has it switched off: it refuses the parameters. */
export function isStreamRefused(failure: unknown): boolean {
  return failure instanceof StatusError && [400, 405, 422, 501].includes(failure.code);
}

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
