// Exports all selected records from OpenSearch or Elasticsearch, sorted by time, page by page. No state is kept in the
// store between pages.
import { randomUUID } from 'node:crypto';
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { pause } from '../../../concurrency/pause.ts';
import type { Deadline, ExportBatches, LogRecord, Order } from '../../store/log-store.ts';
import { LINES_TRUNCATED, withFewerLines } from '../../store/page-limit.ts';
import { isIndexAccessDenied } from '../../store/store-errors.ts';
import { isTransient } from './error-response.ts';
import {
  newHits,
  type Position,
  positionBehind,
  repeatedHits,
  searchAfter,
  sortedSearch,
} from './hit-page.ts';
import { type IndexNaming, shownIndices } from './index-sets.ts';
import type { SearchClient } from './search-client.ts';
import type { RecordReader } from './search-hit.ts';
import type { SearchResponse } from './search-response.ts';
import type { SelectionQuery } from './selection-query.ts';

interface ExportOptions {
  readonly client: SearchClient;
  readonly records: RecordReader;
  readonly naming: IndexNaming;
  /** Maximum number of records in a page; default: EXPORT_PAGE. */
  readonly pageSize?: number | undefined;
  /** Time limit of one page, in ms. */
  readonly pageMs?: number | undefined;
  /** Pauses before a failed page is requested again, in ms. */
  readonly pausesMs?: readonly number[] | undefined;
  /** Returns the query over the indices that exist now; undefined if it can match no line. */
  readonly plan: () => Promise<SelectionQuery | undefined>;
}

/** Half of the default of `index.max_result_window`, which indices can lower. */
export const EXPORT_PAGE = 5_000;
/** Records in the first page. Few, because the length of the lines is unknown. Later pages have about PAGE_BYTES. */
const FIRST_PAGE = 100;
const PAGE_BYTES = 128 << 10;
const SMALLEST_PAGE = 20;
/** Maximum growth from page to page after a page was too large. */
const GROWTH = 2;
export const PAGE_MS = 60_000;
/** Promoting a replica shard takes one or two seconds. */
const PAUSES_MS = [500, 1_000, 2_000];

/** Fetches the next page while the client reads the current one. */
export async function* exportRecords(
  options: ExportOptions,
  order: Order,
  deadline: Deadline,
): ExportBatches {
  const ended = new AbortController();
  const pages = new ExportPages(options, order, deadline.until(ended.signal));
  let next = pages.next();
  try {
    for (let page = await next; page; page = await next) {
      next = pages.next();
      // Prevents an unhandled rejection; the next iteration awaits the promise.
      next.catch(() => undefined);
      deadline.signal.throwIfAborted();
      if (page.length > 0) yield page;
    }
    return { shortfalls: pages.shortfalls };
  } finally {
    ended.abort();
    await next.catch(() => undefined);
  }
}

interface SearchedPage {
  readonly response: SearchResponse;
  /** Number of new records that the search requested. */
  readonly requested: number;
  /** Whether the search requested fewer, because the lines were too long for the store. */
  readonly isReduced: boolean;
}

class ExportPages {
  readonly #options: ExportOptions;
  readonly #order: Order;
  readonly #deadline: Deadline;
  /** Searches with the same `preference` use the same copies of the shards, which refresh at different times. */
  readonly #preference = `export-${randomUUID()}`;
  /** Shortfalls by their message. */
  readonly #shortfalls = new Map<string, Shortfall>();
  #selected: SelectionQuery | undefined;
  #position: Position | undefined;
  #size: number;
  #isLast = false;

  constructor(options: ExportOptions, order: Order, deadline: Deadline) {
    this.#options = options;
    this.#order = order;
    this.#deadline = deadline;
    this.#size = Math.min(FIRST_PAGE, options.pageSize ?? EXPORT_PAGE);
  }

  get shortfalls(): readonly Shortfall[] {
    return [...this.#shortfalls.values()];
  }

  /** Returns the next records; undefined at the end. */
  async next(): Promise<readonly LogRecord[] | undefined> {
    if (this.#isLast) return undefined;
    if (!this.#selected) await this.#plan();
    const page = await this.#completePage();
    if (!page) return undefined;
    const { records, pageSize = EXPORT_PAGE } = this.#options;
    const { response, requested, isReduced } = page;
    const { hits } = response;
    this.#add(response.shortfalls);
    const repeated = repeatedHits(this.#position);
    const found = newHits(hits, this.#position);
    const last = found.at(-1);
    this.#isLast = last === undefined || hits.length < requested + repeated;
    if (last) this.#position = positionBehind(hits, last, this.#position);
    if (found.some(({ isTruncated }) => isTruncated)) this.#add([LINES_TRUNCATED]);
    const read = found.map((hit) => records.read(hit));
    this.#size = Math.min(sizeFor(read), isReduced ? requested * GROWTH : pageSize, pageSize);
    return read;
  }

  /** Waits for shards that were available before, then continues without them. */
  async #completePage(): Promise<SearchedPage | undefined> {
    const { pausesMs = PAUSES_MS } = this.#options;
    const isFirst = this.#position === undefined;
    for (const ms of pausesMs) {
      try {
        const page = await this.#page();
        if (!page || isFirst || !this.#hasNewFailures(page.response)) return page;
      } catch (error) {
        if (!isIndexAccessDenied(error) && (isFirst || !isTransient(error))) throw error;
      }
      await pause(ms, this.#deadline.signal);
      // Indices may have been created, closed or deleted.
      await this.#plan();
    }
    return this.#page();
  }

  async #plan(): Promise<void> {
    const before = this.#selected?.indices.indices ?? [];
    this.#selected = await this.#options.plan();
    const { shortfalls = [], indices } = this.#selected ?? {};
    this.#add(shortfalls);
    const left = new Set(indices?.indices);
    const lost = before.filter((index) => !left.has(index));
    if (lost.length === 0) return;
    const message = `the log store no longer has ${shownIndices(lost, this.#options.naming)}, or cannot reach it`;
    this.#add([{ reason: 'NotCovered', message }]);
  }

  /** Searches the next page; undefined if no index is left. */
  async #page(): Promise<SearchedPage | undefined> {
    const { client, pageSize = EXPORT_PAGE, pageMs = PAGE_MS } = this.#options;
    const selected = this.#selected;
    if (!selected) return undefined;
    const { indices } = selected;
    const position = this.#position;
    const repeated = repeatedHits(position);
    const after = position && searchAfter(position, this.#order, indices.nanoseconds);
    const search = (size: number): Promise<SearchResponse> =>
      client.search(
        indices,
        sortedSearch(selected, { order: this.#order, size: size + repeated }),
        this.#deadline.within(pageMs).call(),
        { after, preference: this.#preference },
      );
    const size = Math.min(this.#size, Math.max(1, pageSize - repeated));
    const { result, requested } = await withFewerLines(size, search, this.#deadline.signal);
    return { response: result, requested, isReduced: requested < size };
  }

  #add(shortfalls: readonly Shortfall[]): void {
    for (const shortfall of shortfalls) this.#shortfalls.set(shortfall.message, shortfall);
  }

  #hasNewFailures({ shortfalls }: SearchResponse): boolean {
    return shortfalls.some(
      ({ reason, message }) => reason === 'ShardFailed' && !this.#shortfalls.has(message),
    );
  }
}

/** Number of records that fit into PAGE_BYTES, estimated from the lines of a page. */
function sizeFor(records: readonly LogRecord[]): number {
  const characters = records.reduce((sum, { log }) => sum + log.length + 300, 0);
  return Math.max(SMALLEST_PAGE, Math.floor((PAGE_BYTES * records.length) / characters));
}
