// A page that is no longer than one answer may be. Lines may have a mebibyte each; so where a store says that they are too
// long, or they turn out to be, it is asked for fewer of them.
import type { Call, LogPage, LogStore, PageRequest, Selection } from './log-store.ts';
import { fittingPage } from './record-weight.ts';
import { isPageTooLong } from './store-errors.ts';

export interface PageQuery {
  readonly selection: Selection;
  readonly request: PageRequest;
  readonly call: Call;
}

export interface FittingPage {
  readonly page: LogPage;
  /** Whether it has fewer lines than it would have if they were shorter; `page.next` leads to the others. */
  readonly isCut: boolean;
}

/** What of the lines is asked for when they were too long. */
const SHARE = 1 / 4;

/** `now`: milliseconds since the epoch. Throws what the store throws. */
export async function queryPage(
  store: Pick<LogStore, 'query'>,
  { selection, request, call }: PageQuery,
  now: () => number,
): Promise<FittingPage> {
  const end = now() + call.timeoutMs;
  let { size } = request;
  for (;;) {
    const left = { ...call, timeoutMs: Math.max(1, end - now()) };
    let fewer: number;
    try {
      const page = await store.query(selection, { ...request, size }, left);
      fewer = fittingPage(page.records);
      if (fewer === page.records.length) {
        return { page, isCut: size < request.size && page.next !== undefined };
      }
    } catch (error) {
      if (!isPageTooLong(error) || size <= 1) throw error;
      fewer = Math.max(1, Math.floor(size * SHARE));
    }
    size = fewer;
  }
}
