// The window of a long page: the rows that the browser loads and keeps live. The server has only pages, so that a window is
// one page of another size, which contains the visible rows.
import type { ShownQuery } from './list-query.ts';

/** Parameters of the server. */
export interface ListWindow {
  readonly page: number;
  readonly limit: number;
}

/** Shorter pages are their own window. */
const MAX_WHOLE = 200;
const MIN_ROWS = 100;
/** Rows of a new window before and after the visible ones, at least. */
const MARGIN = 24;

/** Returns the smallest window with a range of rows of a page. `last` is excluded. */
export function windowAt({ page, limit }: ShownQuery, first: number, last: number): ListWindow {
  if (limit <= MAX_WHOLE) return { page, limit };
  const start = (page - 1) * limit;
  const from = start + Math.max(0, first - MARGIN);
  const to = start + Math.min(limit, last + MARGIN);
  for (let size = MIN_ROWS; ; size++) {
    const before = Math.floor(from / size);
    if (to <= (before + 1) * size) return { page: before + 1, limit: size };
  }
}

/** Returns the index of the first row of a window in the shown page. It is negative if the window begins before the page. */
export function firstRowOf(window: ListWindow, { page, limit }: ShownQuery): number {
  return (window.page - 1) * window.limit - (page - 1) * limit;
}
