// Classifies reflector failures, and computes the delay before the next attempt.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { StalledError } from '../../upstream/upstream-response.ts';
import type { ReflectorTuning } from './reflector-tuning.ts';

/** A streaming list ended before the bookmark that completes it. A truncated HTTP stream can end without an error. */
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

/** An event has no resourceVersion that can be compared with those of other events. */
export class UnversionedError extends Error {
  constructor() {
    super('a watch event whose object has no resourceVersion');
    this.name = 'UnversionedError';
  }
}

/** The sink threw an error and can have missed a change, so the reflector must relist. */
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
  if (isForbidden(failure)) return 'forbidden';
  if (failure instanceof VersionRegressionError) return 'backwards';
  return failure instanceof StalledError ? 'stalled' : 'error';
}

/** Returns true if the server does not have the permission. */
export function isForbidden(failure: unknown): boolean {
  return failure instanceof StatusError && failure.code === 403;
}

/** Returns true if the resourceVersions of an API cannot be compared, so that a watch would miss events. */
export function isIncomparable(failure: unknown): boolean {
  return failure instanceof UnversionedError || failure instanceof VersionRegressionError;
}

function retryAfterMs(failure: unknown, maxMs: number): number {
  const seconds =
    failure instanceof StatusError && failure.code === 429 && failure.details?.retryAfterSeconds;
  return Math.min((seconds || 0) * 1000, maxMs);
}

/** Returns true if the cluster no longer has the changes after the reflector's resourceVersion. */
export function isHistoryGone(failure: unknown): boolean {
  return failure instanceof StatusError && failure.code === 410;
}

/**
 * Returns true if the watch cannot resume: the cluster has compacted its history, or it was restored from a backup and
 * has a different history.
 */
export function isHistoryLost(failure: unknown): boolean {
  return isHistoryGone(failure) || failure instanceof VersionRegressionError;
}

/**
 * Returns true if the cluster rejects the parameters of streaming lists, because it does not support or enable them.
 */
export function isStreamRefused(failure: unknown): boolean {
  return failure instanceof StatusError && [400, 405, 422, 501].includes(failure.code);
}

/**
 * Returns true if the watch cache of kube-apiserver has not reached the current resourceVersion. It never does if a
 * conversion webhook fails; a paged list then returns the error of the webhook.
 */
export function isWatchCacheBehind(failure: unknown): boolean {
  return (
    failure instanceof StatusError &&
    failure.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') === true
  );
}

/** Maximum delay in ms after which a missing permission is tried again: a person who grants it waits for it. */
const FORBIDDEN_MS = 15_000;

type Tuning = Pick<ReflectorTuning, 'healthyMs' | 'initialBackoffMs' | 'maxBackoffMs' | 'random'>;

/** The delay before the next attempt of a reflector. */
export class ReflectorBackoff {
  readonly #tuning: Tuning;
  readonly #backoff: Backoff;
  /** After a missing permission: it starts short, because a permission can follow the installation. */
  readonly #forbidden: Backoff;
  readonly #monotonic: () => number;
  /** Time of the last failure for which isHistoryLost() is true. */
  #historyLost = Number.NEGATIVE_INFINITY;

  constructor(tuning: Tuning, monotonic: () => number = () => performance.now()) {
    const { initialBackoffMs: initialMs, maxBackoffMs: maxMs, random } = tuning;
    this.#tuning = tuning;
    this.#backoff = new Backoff({ initialMs, maxMs, random });
    this.#forbidden = new Backoff({ initialMs, maxMs: FORBIDDEN_MS, random });
    this.#monotonic = monotonic;
  }

  /** Returns the delay in ms after an attempt of `livedMs`. `failure` is undefined if the attempt ended normally. */
  after(failure: unknown, livedMs: number): number {
    if (isForbidden(failure)) return this.#forbidden.next();
    this.#forbidden.reset();
    const { healthyMs, maxBackoffMs } = this.#tuning;
    const healthy = livedMs >= healthyMs;
    if (healthy) this.#backoff.reset();
    if (failure === undefined && healthy) return 0;
    if (isHistoryLost(failure)) this.#loseHistory();
    return Math.max(this.#backoff.next(), retryAfterMs(failure, maxBackoffMs));
  }

  /**
   * Resets the backoff, because the cluster is reachable again and readers get stale data until the relist. A second
   * loss of history within `healthyMs` does not reset it, so that lists which expire immediately become less frequent.
   */
  #loseHistory(): void {
    const before = this.#historyLost;
    this.#historyLost = this.#monotonic();
    if (this.#historyLost - before >= this.#tuning.healthyMs) this.#backoff.reset();
  }
}
