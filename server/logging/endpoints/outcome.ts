import { isExpired, StatusError } from '../../../apis/meta/v1/errors.ts';
import type { LogOutcome } from '../log-metrics.ts';

export interface QueryEnd {
  /** Of the request. */
  readonly signal: AbortSignal;
  /** Whether the answer had begun: what ends it then is no fault of the caller. */
  readonly begun: boolean;
}

/** What became of a query that was not answered, or not to its end. */
export function outcomeOf(error: unknown, { signal, begun }: QueryEnd): LogOutcome {
  if (!(error instanceof StatusError)) return signal.aborted ? 'canceled' : 'error';
  // What a store makes of being given up, a timeout for instance, is nothing that it can be blamed for.
  if (!begun && signal.aborted && !(signal.reason instanceof StatusError)) return 'canceled';
  if (isExpired(error)) return 'expired';
  if (error.code === 429) return 'limited';
  if (error.code === 503 || error.code === 504) return 'unavailable';
  if (error.code >= 500) return 'error';
  return begun ? 'limited' : 'refused';
}
