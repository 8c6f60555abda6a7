// Limit of the size of a page of log lines in bytes. A page with longer lines has fewer lines, and a cursor to the
// next page.
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { pause } from '../../concurrency/pause.ts';
import type { Deadline, LogPage, LogRecord, LogStore, PageRequest, Selection } from './log-store.ts';
import { isStoreExhausted } from './store-errors.ts';

/** Maximum size of one response of a store in bytes; the whole response is in memory. */
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

/** Passes a response on, and throws `tooLong` after more than `maxBytes`. */
export async function* upTo(
  maxBytes: number,
  body: AsyncIterable<Buffer>,
  tooLong: () => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong();
    yield chunk;
  }
}

/** Shortfall of a page that has fewer lines than requested. */
export const PAGE_CUT: Shortfall = {
  reason: 'Limit',
  message: 'the lines are too long for one page; the next pages have the rest',
};

/** Shortfall of a page with lines that are not whole. */
export const LINES_TRUNCATED: Shortfall = {
  reason: 'Limit',
  message: 'lines longer than 1 MiB were truncated',
};

/** Each retry divides the number of lines by this; the lengths of the lines are unknown. */
const DIVISOR = 4;
/** Pause before the first retry of a store that is short of memory, then doubled. Its garbage collection frees memory. */
const FIRST_PAUSE_MS = 200;
/** Maximum number of characters of all lines of a page. */
const MAX_PAGE_LENGTH = 8 << 20;

/**
 * Retries `read` with fewer lines while the lines are too long for the store. Throws the other errors of `read`.
 * `requested`: number of lines in the last request.
 */
export async function withFewerLines<Result>(
  size: number,
  read: (size: number) => Promise<Result>,
  signal: AbortSignal,
  wait = pause,
): Promise<{ readonly result: Result; readonly requested: number }> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let requested = size; ; requested = Math.ceil(requested / DIVISOR)) {
    try {
      return { result: await read(requested), requested };
    } catch (error) {
      const isExhausted = isStoreExhausted(error);
      if (requested <= 1 || !(isExhausted || isPageTooLong(error))) throw error;
      if (!isExhausted) continue;
      await wait(pauseMs, signal);
      pauseMs *= 2;
    }
  }
}

interface PageQuery {
  readonly selection: Selection;
  readonly request: PageRequest;
  readonly deadline: Deadline;
}

/**
 * A page that fits into one response. Throws the errors of the store. `isCut`: whether long lines made the page shorter
 * than requested; `page.next` leads to the rest.
 */
export async function queryPage(
  store: Pick<LogStore, 'query'>,
  { selection, request, deadline }: PageQuery,
): Promise<{ readonly page: LogPage; readonly isCut: boolean }> {
  const read = (size: number): Promise<LogPage> =>
    store.query(selection, { ...request, size }, deadline.call());
  for (let { size } = request; ; ) {
    const { result: page, requested } = await withFewerLines(size, read, deadline.signal);
    size = fittingPage(page.records);
    if (size === page.records.length) {
      return { page, isCut: requested < request.size && page.next !== undefined };
    }
  }
}

/** The number of leading records that fit into one response; at least one, if there are any. */
export function fittingPage(records: readonly LogRecord[]): number {
  let length = 0;
  for (const [at, { log }] of records.entries()) {
    length += log.length;
    if (length > MAX_PAGE_LENGTH) return Math.max(1, at);
  }
  return records.length;
}
