// Query for the lines before and after one record of a container (`context`). Log stores have no such query, so there
// are two searches. The first covers the time from the millisecond of the record onwards, and finds the record by the
// digest in its id. The second covers the time before that millisecond.
import type { LogQueryAnswer, Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { GroupResource } from '../../../apis/meta/v1/errors.ts';
import type { Scopes } from '../access/scope.ts';
import { BEGINNING, instantOf, millisecondsOf } from '../instant.ts';
import type { Deadline, LogRecord, LogStore, PageRequest, Selection } from '../log-store.ts';
import { type FittingPage, fittingPage, queryPage } from '../page-limit.ts';
import { newStoreTimeout, newStoreUnavailable } from '../store-errors.ts';
import { type LogCall, partial, type WithoutTook } from './log-queries.ts';
import { isRecord, newRecordNotFound, parseRecordID, type RecordID } from './opaque-values.ts';
import { responseRecords, type SlicedCall } from './responses.ts';

export interface SurroundingLinesOptions extends Pick<SlicedCall, 'slicer'> {
  readonly store: Pick<LogStore, 'query'>;
  /** The value of `logging.store`. */
  readonly storeName: string;
  readonly scopes: Pick<Scopes, 'of'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const TOO_LONG: Shortfall = {
  reason: 'Limit',
  message: 'the lines are too long for one response; it has the nearest ones',
};
const PAGE_SIZE = 1_000;
/** Maximum number of pages in the search for the record. */
const MAX_PAGES = 20;

export class SurroundingLines {
  readonly #options: SurroundingLinesOptions;

  constructor(options: SurroundingLinesOptions) {
    this.#options = options;
  }

  /** Throws NotFound for a record that does not exist or that the caller may not read. `target`: resource for the error. */
  async query(
    { query, user, deadline }: LogCall,
    target: GroupResource,
  ): Promise<WithoutTook<LogQueryAnswer>> {
    const { scopes, storeName, slicer, now } = this.#options;
    const id = parseRecordID(query.context ?? '');
    const namespaces = { exact: [id.namespace] };
    const scope = await scopes.of(user, namespaces, deadline);
    const notFound = newRecordNotFound(target, query.context ?? '');
    if (!scope.everything && scope.namespaces.length === 0) throw notFound;
    const container = { scope, namespaces, pods: { exact: [id.pod] }, containers: { exact: [id.container] } };
    const millisecond = instantOf(millisecondsOf(id.time));
    // The clock of the node may be ahead of the clock of this server.
    const end = instantOf(Math.max(now(), millisecondsOf(id.time)) + 1);
    const onward = { ...container, range: { start: millisecond, end } };
    const found = await this.#search(id, query, onward, deadline);
    if (!found.isFound) throw unavailable(storeName, found.shortfalls) ?? notFound;
    const missing = query.before - found.before.length;
    const earlier =
      missing > 0 && !found.isCut && millisecond !== BEGINNING
        ? await this.#lastBefore(millisecond, missing, { ...container, range: onward.range }, deadline)
        : { records: [], shortfalls: [] };
    const before = [...earlier.records, ...found.before];
    const [fitBefore, fitAfter] = [fittingPage(before.toReversed()), fittingPage(found.after)];
    const isTooLong = found.isCut || fitBefore < before.length || fitAfter < found.after.length;
    const nearest = [...before.slice(before.length - fitBefore), ...found.after.slice(0, fitAfter)];
    const records = await responseRecords(query, nearest, { slicer, signal: deadline.signal });
    return {
      query: { total: records.length, totalRelation: 'eq', records },
      ...partial([...found.shortfalls, ...earlier.shortfalls, ...(isTooLong ? [TOO_LONG] : [])]),
    };
  }

  async #search(
    id: RecordID,
    wanted: Pick<LogQuery, 'before' | 'after'>,
    selection: Selection,
    deadline: Deadline,
  ): Promise<Found> {
    const found = new Found(id, wanted);
    let position: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      // Nearly all records are on the first page.
      const size = pages === 0 ? Math.min(PAGE_SIZE, wanted.after + 100) : PAGE_SIZE;
      const request = { order: 'asc', size, from: 0, ...(position ? { after: position } : {}) } as const;
      const { page } = await this.#page(request, selection, deadline);
      found.shortfalls.push(...page.shortfalls);
      found.add(page.records);
      position = page.next;
      if (position === undefined || found.isComplete) break;
    }
    return found;
  }

  /** The last lines before `end`, in the order of time. */
  async #lastBefore(end: string, size: number, selection: Selection, deadline: Deadline) {
    const range = { start: BEGINNING, end };
    const request = { order: 'desc', size, from: 0 } as const;
    const { page, isCut } = await this.#page(request, { ...selection, range }, deadline);
    return {
      records: page.records.toReversed(),
      shortfalls: isCut ? [...page.shortfalls, TOO_LONG] : page.shortfalls,
    };
  }

  #page(request: PageRequest, selection: Selection, deadline: Deadline): Promise<FittingPage> {
    const { store } = this.#options;
    return queryPage(store, { selection, request: { ...request, uncounted: true }, deadline });
  }
}

/** Collects the record and its neighbours from pages in the order of time. The first page starts at its millisecond. */
class Found {
  readonly shortfalls: Shortfall[] = [];
  /** The nearest lines before the record. */
  before: LogRecord[] = [];
  /** The record, once it is found, and the lines after it. */
  readonly after: LogRecord[] = [];
  /** Whether lines before the record were dropped, because the lines are too long for one response. */
  isCut = false;
  readonly #id: RecordID;
  readonly #wanted: Pick<LogQuery, 'before' | 'after'>;
  #hasPassed = false;

  constructor(id: RecordID, wanted: Pick<LogQuery, 'before' | 'after'>) {
    this.#id = id;
    this.#wanted = wanted;
  }

  get isFound(): boolean {
    return this.after.length > 0;
  }

  /** Whether further pages are unnecessary. */
  get isComplete(): boolean {
    if (!this.isFound) return this.#hasPassed;
    return this.after.length > this.#wanted.after || fittingPage(this.after) < this.after.length;
  }

  add(records: readonly LogRecord[]): void {
    const at = this.isFound ? 0 : records.findIndex((record) => isRecord(record, this.#id));
    const begin = at < 0 ? records.length : at;
    if (begin > 0) this.#addBefore(records.slice(0, begin));
    this.after.push(...records.slice(begin, begin + this.#wanted.after + 1 - this.after.length));
    // Compared in milliseconds, because some stores do not sort within a millisecond.
    const last = records.at(-1);
    this.#hasPassed = last !== undefined && millisecondsOf(last.time) > millisecondsOf(this.#id.time);
  }

  /** Stores the nearest lines that fit into a response: 500 lines may have 500 MiB. */
  #addBefore(records: readonly LogRecord[]): void {
    const { before } = this.#wanted;
    const all = [...this.before, ...records];
    const near = all.slice(Math.max(0, all.length - before));
    const fit = fittingPage(near.toReversed());
    this.isCut = fit < near.length || (this.isCut && fit < before);
    this.before = near.slice(near.length - fit);
  }
}

/** The error if an incomplete search may have missed the record; undefined if the record does not exist. */
function unavailable(storeName: string, shortfalls: readonly Shortfall[]): Error | undefined {
  for (const { reason, message } of shortfalls) {
    if (reason === 'Timeout') return newStoreTimeout(storeName);
    if (reason === 'ShardFailed' || reason === 'StoreFailed') {
      return newStoreUnavailable(storeName, new Error(message));
    }
  }
  return undefined;
}
