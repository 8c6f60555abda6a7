// The lines around one record, in the order of its container. Stores have no such query; it consists of two ranges, and
// lines of the record's own millisecond are told apart by the digest of the line.
import type { LogQueryAnswer, Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { GroupResource } from '../../../apis/meta/v1/errors.ts';
import type { Turns } from '../../concurrency/turns.ts';
import type { Scopes } from '../access/scope.ts';
import type { Deadline } from '../deadline.ts';
import { BEGINNING, instantOf, millisecondsOf } from '../instant.ts';
import type { LogPage, LogStore, PageRequest, Selection } from '../log-store.ts';
import { newStoreTimeout, newStoreUnavailable } from '../store-errors.ts';
import { answered } from './answered-records.ts';
import { LinesAround } from './lines-around.ts';
import { type Asked, partial, type Untimed } from './log-answers.ts';
import { type FittingPage, queryPage } from './page-query.ts';
import { newRecordNotFound, parseRecordID } from './record-id.ts';
import { fittingPage } from './record-weight.ts';

export interface LogContextOptions {
  readonly store: Pick<LogStore, 'query'>;
  /** As the configuration calls it. */
  readonly storeName: string;
  readonly scopes: Pick<Scopes, 'of'>;
  readonly turns: Turns;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const TOO_LONG: Shortfall = {
  reason: 'Limit',
  message: 'the lines are too long for all of them; the nearest are here',
};
/** Lines of one page while the record is looked for among those of its millisecond. */
const PAGE = 1_000;
/** Pages of that; a container that writes more in one millisecond has lost its record among them. */
const MAX_PAGES = 20;

export class LogContext {
  readonly #options: LogContextOptions;

  constructor(options: LogContextOptions) {
    this.#options = options;
  }

  /** Throws NotFound when there is no such record, or none that the caller may see. `target`: of the request. */
  async around({ query, user, deadline }: Asked, target: GroupResource): Promise<Untimed<LogQueryAnswer>> {
    const { scopes, storeName, turns, now } = this.#options;
    const id = parseRecordID(query.context ?? '');
    const namespaces = { exact: [id.namespace] };
    const scope = await scopes.of(user, namespaces, deadline);
    const gone = newRecordNotFound(target, query.context ?? '');
    if (!scope.everything && scope.namespaces.length === 0) throw gone;
    const container: Omit<Selection, 'range'> = {
      scope,
      namespaces,
      pods: { exact: [id.pod] },
      containers: { exact: [id.container] },
    };
    const instant = instantOf(millisecondsOf(id.time));
    // The clock of a node may be ahead of ours.
    const end = instantOf(Math.max(now(), millisecondsOf(id.time)) + 1);
    const around = new LinesAround(id, query);
    const missed = await this.#fill(
      around,
      query.after,
      { ...container, range: { start: instant, end } },
      deadline,
    );
    if (!around.isFound) throw unseen(storeName, missed) ?? gone;
    const { missing, behind } = around;
    const isCut = missing > 0 && around.isCut;
    const earlier =
      missing <= 0 || isCut || instant === BEGINNING
        ? NOTHING
        : await this.#last(missing, { ...container, range: { start: BEGINNING, end: instant } }, deadline);
    const before = [...earlier.records, ...around.before];
    const [nearBefore, nearBehind] = [fittingPage(before.toReversed()), fittingPage(behind)];
    const isTooLong = isCut || nearBefore < before.length || nearBehind < behind.length;
    const records = [...before.slice(before.length - nearBefore), ...behind.slice(0, nearBehind)];
    const answers = await answered(query, records, { turns, signal: deadline.signal });
    return {
      query: { total: records.length, totalRelation: 'eq', records: answers },
      ...partial([...missed, ...earlier.shortfalls, ...(isTooLong ? [TOO_LONG] : [])]),
    };
  }

  /** From the record's millisecond on, `after` lines behind the record; returns what was not covered. */
  async #fill(
    around: LinesAround,
    after: number,
    selection: Selection,
    deadline: Deadline,
  ): Promise<Shortfall[]> {
    const shortfalls: Shortfall[] = [];
    let position: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      // Nearly all records are found in the first page; one that is not may be among very many.
      const size = pages === 0 ? Math.min(PAGE, after + 100) : PAGE;
      const { page } = await this.#page(
        { order: 'asc', size, from: 0, ...(position ? { after: position } : {}) },
        selection,
        deadline,
      );
      shortfalls.push(...page.shortfalls);
      around.add(page.records);
      position = page.next;
      if (position === undefined || around.isComplete) break;
    }
    return shortfalls;
  }

  /** In the order of time. */
  async #last(
    size: number,
    selection: Selection,
    deadline: Deadline,
  ): Promise<Pick<LogPage, 'records' | 'shortfalls'>> {
    const { page, isCut } = await this.#page({ order: 'desc', size, from: 0 }, selection, deadline);
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

const NOTHING = { records: [], shortfalls: [] };

/** Undefined when the store has looked everywhere, or at all that is still there. */
function unseen(storeName: string, shortfalls: readonly Shortfall[]): Error | undefined {
  for (const { reason, message } of shortfalls) {
    if (reason === 'Timeout') return newStoreTimeout(storeName);
    if (reason === 'ShardFailed' || reason === 'StoreFailed') {
      return newStoreUnavailable(storeName, new Error(message));
    }
  }
  return undefined;
}
