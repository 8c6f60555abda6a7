// The lines around one record, in the order of its container. Stores have no such query; it consists of two ranges, and
// lines of the record's own millisecond are told apart by the digest of the line.
import type { LogQueryAnswer, Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { GroupResource } from '../../../apis/meta/v1/errors.ts';
import type { Scopes } from '../access/scope.ts';
import { BEGINNING, instantOf, millisecondsOf } from '../instant.ts';
import type { Call, LogRecord, LogStore, PageRequest, Selection } from '../log-store.ts';
import { newStoreTimeout, newStoreUnavailable } from '../store-errors.ts';
import type { Turns } from '../work/turns.ts';
import { answered } from './answered-records.ts';
import { LinesAround } from './lines-around.ts';
import { type Asked, partial, type Untimed } from './log-answers.ts';
import { queryPage } from './page-query.ts';
import { newRecordNotFound, parseRecordID, type RecordID } from './record-id.ts';
import { fittingPage } from './record-weight.ts';

export interface LogContextOptions {
  readonly store: Pick<LogStore, 'query'>;
  /** As the configuration calls it. */
  readonly storeName: string;
  readonly scopes: Pick<Scopes, 'of'>;
  readonly turns: Turns;
  /** For the 404 of a record that is gone. */
  readonly target: GroupResource;
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

  /** Throws NotFound when there is no such record, or none that the caller may see. */
  async around({ query, user, call }: Asked): Promise<Untimed<LogQueryAnswer>> {
    const { scopes, storeName, target, now } = this.#options;
    const id = parseRecordID(query.context ?? '');
    const namespaces = { exact: [id.namespace] };
    const scope = await scopes.of(user, namespaces, call);
    const gone = newRecordNotFound(target, query.context ?? '');
    if (!scope.everything && scope.namespaces.length === 0) throw gone;
    const container: Omit<Selection, 'range'> = {
      scope,
      namespaces,
      pods: { exact: [id.pod] },
      containers: { exact: [id.container] },
    };
    const instant = instantOf(millisecondsOf(id.time));
    const shortfalls: Shortfall[] = [];
    // The clock of a node may be ahead of ours.
    const end = instantOf(Math.max(now(), millisecondsOf(id.time)) + 1);
    const around = await this.#from(
      { ...container, range: { start: instant, end } },
      id,
      query,
      call,
      shortfalls,
    );
    if (!around) throw unseen(storeName, shortfalls) ?? gone;
    const { missing, behind } = around;
    const isCut = missing > 0 && around.isCut;
    if (isCut) shortfalls.push(TOO_LONG);
    const earlier =
      missing <= 0 || isCut || instant === BEGINNING
        ? []
        : await this.#before(
            { ...container, range: { start: BEGINNING, end: instant } },
            missing,
            call,
            shortfalls,
          );
    const before = [...earlier, ...around.before];
    const [nearBefore, nearBehind] = [fittingPage(before.toReversed()), fittingPage(behind)];
    if (nearBefore < before.length || nearBehind < behind.length) shortfalls.push(TOO_LONG);
    const records = [...before.slice(before.length - nearBefore), ...behind.slice(0, nearBehind)];
    const { signal } = call;
    const answers = await answered(query, records, { turns: this.#options.turns, signal });
    return {
      query: { total: records.length, totalRelation: 'eq', records: answers },
      ...partial(shortfalls),
    };
  }

  /** From the record's millisecond on; undefined when the record is not there. */
  async #from(
    selection: Selection,
    id: RecordID,
    wanted: Pick<LogQuery, 'before' | 'after'>,
    call: Call,
    shortfalls: Shortfall[],
  ): Promise<LinesAround | undefined> {
    const around = new LinesAround(id, wanted);
    let position: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const request: PageRequest = {
        order: 'asc',
        // Nearly all records are found in the first page; one that is not may be among very many.
        size: pages === 0 ? Math.min(PAGE, wanted.after + 100) : PAGE,
        from: 0,
        uncounted: true,
        ...(position ? { after: position } : {}),
      };
      const { page } = await queryPage(this.#options.store, { selection, request, call }, this.#options.now);
      shortfalls.push(...page.shortfalls);
      around.add(page.records);
      position = page.next;
      if (position === undefined || around.isComplete) break;
    }
    return around.isFound ? around : undefined;
  }

  async #before(
    selection: Selection,
    size: number,
    call: Call,
    shortfalls: Shortfall[],
  ): Promise<LogRecord[]> {
    const request: PageRequest = { order: 'desc', size, from: 0, uncounted: true };
    const { page, isCut } = await queryPage(
      this.#options.store,
      { selection, request, call },
      this.#options.now,
    );
    shortfalls.push(...page.shortfalls, ...(isCut ? [TOO_LONG] : []));
    return page.records.toReversed();
  }
}

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
