// How a page is read: all logs when lines have to be counted, else windows of time until the page is full. Skipped lines
// have to be found, not held: where they are too long for the memory, only their places are collected.
import type { LogPage, PageRequest, Selection } from '../../../log-store.ts';
import { earliestOf } from '../reading/line-filter.ts';
import type { MemoryShare } from '../reading/memory-budget.ts';
import type { Pass, TallyFor } from '../reading/pass.ts';
import { HeldBytes } from './held-bytes.ts';
import { PageBuilder } from './page.ts';
import { pageWindows } from './page-window.ts';

export interface PageReaderOptions {
  readonly pass: Pass;
  readonly selection: Selection;
  /** For the lines that are held. */
  readonly memory: MemoryShare;
}

export class PageReader {
  readonly #options: PageReaderOptions;
  readonly #memory: HeldBytes;

  constructor(options: PageReaderOptions) {
    this.#options = options;
    this.#memory = new HeldBytes(options.memory);
  }

  async read(request: PageRequest): Promise<LogPage> {
    const { pass } = this.#options;
    let page = await this.#fill(request);
    if (page.isShortOfFrom && pass.isOver) pass.shortfalls.timedOut(pass.sources.length);
    else if (page.isShortOfFrom) {
      // It would count again what has been counted.
      pass.shortfalls.linesAreCounted();
      // Of its lines none is shown.
      page.drop();
      const after = await this.#behindSkipped(request, page);
      if (after === undefined) return this.#answer(request, page);
      page = await this.#fill({ ...request, from: 0, after });
    }
    if (page.cut) pass.shortfalls.pageCut();
    return this.#answer(request, page);
  }

  #answer(request: PageRequest, page: PageBuilder): LogPage {
    const { pass } = this.#options;
    return {
      ...page.page(request.uncounted ? 'gte' : pass.relation),
      shortfalls: pass.shortfalls.list(),
    };
  }

  /** The position of the last line that is skipped; undefined when there are not so many, or the time is up. */
  async #behindSkipped(request: PageRequest, counted: PageBuilder): Promise<string | undefined> {
    const { pass } = this.#options;
    let after: string | undefined;
    for (let left = request.from; left > 0; ) {
      const skipped = await this.#fill(
        { order: request.order, size: left, from: 0, uncounted: true, ...(after ? { after } : {}) },
        true,
      );
      const { length } = skipped;
      after = skipped.endWith(counted.total(pass.relation));
      skipped.drop();
      if (after === undefined) return undefined;
      if (pass.isOver) {
        pass.shortfalls.timedOut(pass.sources.length);
        return undefined;
      }
      left -= length;
    }
    return after;
  }

  /** `onlyPlaces`: no text of lines is held. */
  async #fill(request: PageRequest, onlyPlaces = false): Promise<PageBuilder> {
    const { pass, selection } = this.#options;
    const page = new PageBuilder({
      sources: pass.sources,
      request,
      memory: this.#memory,
      isFiltered: selection.text !== undefined || selection.levels !== undefined,
      onlyPlaces,
    });
    const tallyFor: TallyFor = (_, rank) => page.tally(rank);
    if (!request.uncounted && !page.position) {
      await pass.readAll(tallyFor);
      return page;
    }
    const range = { from: earliestOf(selection), to: selection.range.end };
    for (const window of pageWindows(request.order, range, page.position)) {
      if (page.isFull) break;
      if (pass.isOver) {
        pass.shortfalls.timedOut(pass.sources.length);
        break;
      }
      await pass.readWindow(window, tallyFor);
    }
    return page;
  }
}
