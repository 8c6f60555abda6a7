import { type BoundedSignal, boundedSignal } from '../../../../concurrency/bounded-signal.ts';
import type { Call } from '../../../log-store.ts';
import { newStoreUnavailable } from '../../../store-errors.ts';
import { LogFailure } from './log-request.ts';

/** As the configuration calls it. */
export const STORE = 'kubernetes';

/** Lines found in this last share of the time, or these last ms, would come too late. */
const RESERVE_SHARE = 0.05;
const MAX_RESERVE_MS = 500;

/** Aborted with the call, or shortly before its time is up, while the answer can still be sent. */
export function readingBounds({ signal, timeoutMs }: Call): BoundedSignal {
  const reserve = Math.min(timeoutMs * RESERVE_SHARE, MAX_RESERVE_MS);
  return boundedSignal(signal, Math.max(0, Math.floor(timeoutMs - reserve)));
}

/** What callers of the store may see. */
export function asStoreError(error: unknown): unknown {
  return error instanceof LogFailure ? newStoreUnavailable(STORE, error) : error;
}
