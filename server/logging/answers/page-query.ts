// A page that is no longer than one answer may be. Lines may have a mebibyte each; so where a store says that they are too
// long, or too much for it, or they turn out to be too long, it is asked for fewer of them.
import type { Deadline } from '../deadline.ts';
import { fewerWhenTooMuch } from '../fewer-lines.ts';
import type { LogPage, LogStore, PageRequest, Selection } from '../log-store.ts';
import { fittingPage } from './record-weight.ts';

export interface PageQuery {
  readonly selection: Selection;
  readonly request: PageRequest;
  readonly deadline: Deadline;
}

export interface FittingPage {
  readonly page: LogPage;
  /** Whether it has fewer lines than it would have if they were shorter; `page.next` leads to the others. */
  readonly isCut: boolean;
}

/** Throws what the store throws. */
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
