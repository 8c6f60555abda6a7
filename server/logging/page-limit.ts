// Pages that fit into memory: a line may have a mebibyte. If a page is too long for the store or for a response, the request
// is retried with fewer lines, and the cursor of the shorter page leads to the rest.
import type { Shortfall } from '../../apis/logging/v1alpha2/log-answer.ts';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { pause } from '../concurrency/pause.ts';
import type { Deadline } from './deadline.ts';
import type { LogPage, LogRecord, LogStore, PageRequest, Selection } from './log-store.ts';
import { isStoreExhausted } from './store-errors.ts';

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

export interface FewerLines<Result> {
  readonly answer: Result;
  /** Size of the last request. */
  readonly asked: number;
}

/** Divisor of the size for each retry: the lengths of the lines are unknown. */
const DIVISOR = 4;
/** Pause before the first retry of a store without memory, then doubled: most of its heap is garbage until collected. */
const FIRST_PAUSE_MS = 200;
/** Characters of the lines of one page. */
const MAX_PAGE_LENGTH = 8 << 20;

/** Retries `ask` with fewer lines while they are too many for the store. Throws the other errors of `ask`. */
export async function fewerWhenTooMuch<Result>(
  size: number,
  ask: (size: number) => Promise<Result>,
  signal: AbortSignal,
  wait = pause,
): Promise<FewerLines<Result>> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let asked = size; ; asked = Math.ceil(asked / DIVISOR)) {
    try {
      return { answer: await ask(asked), asked };
    } catch (error) {
      const isExhausted = isStoreExhausted(error);
      if (asked <= 1 || !(isExhausted || isPageTooLong(error))) throw error;
      if (!isExhausted) continue;
      await wait(pauseMs, signal);
      pauseMs *= 2;
    }
  }
}

export interface PageQuery {
  readonly selection: Selection;
  readonly request: PageRequest;
  readonly deadline: Deadline;
}

export interface FittingPage {
  readonly page: LogPage;
  /** Whether long lines made the page shorter than requested; `page.next` leads to the rest. */
  readonly isCut: boolean;
}

/** A page that fits into one response. Throws the errors of the store. */
export async function queryPage(
  store: Pick<LogStore, 'query'>,
  { selection, request, deadline }: PageQuery,
): Promise<FittingPage> {
  const ask = (size: number): Promise<LogPage> =>
    store.query(selection, { ...request, size }, deadline.call());
  for (let { size } = request; ; ) {
    const { answer: page, asked } = await fewerWhenTooMuch(size, ask, deadline.signal);
    size = fittingPage(page.records);
    if (size === page.records.length) return { page, isCut: asked < request.size && page.next !== undefined };
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
