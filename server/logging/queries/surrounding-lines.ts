// Query for the lines before and after one line of a container log (parameter `context`).
import type { LogQueryAnswer, Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import { type GroupResource, newInvalidParameter, StatusError } from '../../../apis/meta/v1/errors.ts';
import type { Scopes } from '../access/scope.ts';
import { BEGINNING, instantOf, millisecondsOf } from '../store/instant.ts';
import type { Deadline, LogRecord, LogStore, PageRequest, Selection } from '../store/log-store.ts';
import { fittingPage, queryPage } from '../store/page-limit.ts';
import { newStoreTimeout, newStoreUnavailable } from '../store/store-errors.ts';
import { type LogCall, partial, type WithoutTook } from './log-queries.ts';
import { lineDigest, parseRecordID, type RecordID, responseRecords, type SlicedCall } from './responses.ts';

interface SurroundingLinesOptions extends Pick<SlicedCall, 'slicer'> {
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
const TOO_MANY =
  'is a record of a millisecond with too many lines of its container; use start_time and cursor';
const PAGE_SIZE = 1_000;
/** Maximum number of pages in the search for the record. Their lines are in memory, up to 8 Mi characters each. */
const MAX_PAGES = 6;

export class SurroundingLines {
  readonly #options: SurroundingLinesOptions;

  constructor(options: SurroundingLinesOptions) {
    this.#options = options;
  }

  /** Throws NotFound for a record that is missing, or that the caller is not allowed to read. `target`: of the error. */
  async query(
    { query, user, deadline }: LogCall,
    target: GroupResource,
  ): Promise<WithoutTook<LogQueryAnswer>> {
    const { store, scopes, storeName, slicer, now } = this.#options;
    const id = parseRecordID(query.context ?? '');
    const namespaces = { exact: [id.namespace] };
    const scope = await scopes.of(user, namespaces, deadline);
    const notFound = newRecordNotFound(target, query.context ?? '');
    if (!scope.everything && scope.namespaces.length === 0) throw notFound;
    const container = { scope, namespaces, pods: { exact: [id.pod] }, containers: { exact: [id.container] } };
    const startMs = millisecondsOf(id.time);
    // The clock of the node may be ahead of the clock of this server.
    const range = { start: instantOf(startMs), end: instantOf(Math.max(now(), startMs) + 1) };
    // Log stores have no query for surrounding lines. This query covers the time from the millisecond of the record
    // onwards, and finds the record by the digest in its id. A second query covers the time before that millisecond.
    const onward = await this.#searchOnward({ ...container, range }, id, query.after, deadline);
    const at = onward.records.findIndex((record) => hasID(record, id));
    if (at < 0) {
      throw (
        unavailable(storeName, onward.shortfalls) ??
        (onward.isComplete ? notFound : newInvalidParameter('context', TOO_MANY))
      );
    }
    const same = onward.records.slice(Math.max(0, at - query.before), at);
    const missing = query.before - same.length;
    const earlier =
      missing > 0 && range.start !== BEGINNING
        ? await queryPage(store, {
            selection: { ...container, range: { start: BEGINNING, end: range.start } },
            request: { order: 'desc', size: missing, from: 0, uncounted: true },
            deadline,
          })
        : undefined;
    const before = [...(earlier?.page.records.toReversed() ?? []), ...same];
    const after = onward.records.slice(at, at + 1 + query.after);
    const [fitBefore, fitAfter] = [fittingPage(before.toReversed()), fittingPage(after)];
    const isTooLong = earlier?.isCut || fitBefore < before.length || fitAfter < after.length;
    const nearest = [...before.slice(before.length - fitBefore), ...after.slice(0, fitAfter)];
    const records = await responseRecords(query, nearest, {
      slicer,
      signal: deadline.signal,
      caller: deadline.caller,
    });
    return {
      query: { total: records.length, totalRelation: 'eq', records },
      ...partial([
        ...onward.shortfalls,
        ...(earlier?.page.shortfalls ?? []),
        ...(isTooLong ? [TOO_LONG] : []),
      ]),
    };
  }

  /** Lines from the millisecond of the record on, until the record and `after` further lines are found. */
  async #searchOnward(selection: Selection, id: RecordID, after: number, deadline: Deadline) {
    const records: LogRecord[] = [];
    const shortfalls: Shortfall[] = [];
    let position: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      // Nearly all records are on the first page.
      const size = pages === 0 ? after + 100 : PAGE_SIZE;
      const request: PageRequest = { order: 'asc', size, from: 0, after: position, uncounted: true };
      const { page } = await queryPage(this.#options.store, {
        selection,
        request,
        deadline,
      });
      records.push(...page.records);
      shortfalls.push(...page.shortfalls);
      position = page.next;
      if (position === undefined || isComplete(records, id, after))
        return { records, shortfalls, isComplete: true };
    }
    return { records, shortfalls, isComplete: false };
  }
}

/** Whether further pages are unnecessary. Compared in milliseconds: some stores do not sort within a millisecond. */
function isComplete(records: readonly LogRecord[], id: RecordID, after: number): boolean {
  const at = records.findIndex((record) => hasID(record, id));
  if (at >= 0) return records.length - at > after || fittingPage(records.slice(at)) < records.length - at;
  const last = records.at(-1);
  return last !== undefined && millisecondsOf(last.time) > millisecondsOf(id.time);
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

function hasID({ time, log }: LogRecord, id: RecordID): boolean {
  return time === id.time && lineDigest(log) === id.digest;
}

/** The same error for a record that no longer exists and for one that the caller is not allowed to read. */
function newRecordNotFound({ group, resource }: GroupResource, id: string): StatusError {
  const message = 'the record does not exist, or you have no permission to read the logs of its namespace';
  return new StatusError(404, 'NotFound', `context: ${message}`, {
    name: id,
    group,
    kind: resource,
    causes: [{ reason: 'FieldValueNotFound', message, field: 'context' }],
  });
}
