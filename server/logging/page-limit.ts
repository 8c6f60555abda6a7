// How much of the lines of a page may be in memory at once, and what is said where they are more.
import type { Shortfall } from '../../apis/logging/v1alpha2/log-answer.ts';
import { StatusError } from '../../apis/meta/v1/errors.ts';

/** Bytes of one answer of a store, which are all in memory at once. */
export const MAX_PAGE_BYTES = 32 << 20;

class PageTooLongError extends StatusError {}

/** The lines that were asked for are longer than a store is read for one page: 400, where fewer do not help. */
export function newPageTooLong(): StatusError {
  const message =
    'the lines there are too long to be skipped or shown at once; go on by cursor, or ask for an export';
  return new PageTooLongError(400, 'BadRequest', message);
}

/** Whoever asks for fewer lines may get them. */
export function isPageTooLong(error: unknown): boolean {
  return error instanceof PageTooLongError;
}

/** Says that a page is shorter than it was asked for. */
export const PAGE_CUT: Shortfall = {
  reason: 'Limit',
  message: 'so many of these lines are too much at once; the next pages have the others',
};
