// Limit for the lines of a page that are in memory at once, and how a page reports it.
import type { Shortfall } from '../../apis/logging/v1alpha2/log-answer.ts';
import { StatusError } from '../../apis/meta/v1/errors.ts';

/** Bytes of one response of a store, all of which are in memory at once. */
export const MAX_PAGE_BYTES = 32 << 20;

class PageTooLongError extends StatusError {}

/** The requested lines are longer than the limit: 400, unless a retry with fewer lines succeeds. */
export function newPageTooLong(): StatusError {
  const message =
    'the lines are too long to be skipped or returned at once; continue with the cursor, or use operation=export';
  return new PageTooLongError(400, 'BadRequest', message);
}

/** Whether a request for fewer lines may succeed. */
export function isPageTooLong(error: unknown): boolean {
  return error instanceof PageTooLongError;
}

/** The page has fewer lines than requested. */
export const PAGE_CUT: Shortfall = {
  reason: 'Limit',
  message: 'the lines are too long for one page; the next pages have the rest',
};
