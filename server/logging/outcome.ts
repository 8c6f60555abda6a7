import { StatusError } from '../../apis/meta/v1/errors.ts';
import type { LogOutcome } from '../observability/log-metrics.ts';

/** What became of a query that was not answered. `signal` is the request's. */
export function outcomeOf(error: unknown, signal: AbortSignal): LogOutcome {
  if (error instanceof StatusError) {
    if (error.code === 429) return 'limited';
    if (error.code === 503 || error.code === 504) return 'unavailable';
    return error.code < 500 ? 'refused' : 'error';
  }
  return signal.aborted ? 'canceled' : 'error';
}
