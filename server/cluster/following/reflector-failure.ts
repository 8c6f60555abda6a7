// The ways in which following a resource fails, and what each means for the next attempt.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { StalledError } from '../connection/live-body.ts';

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
