// The JSON answers of log queries: a page of lines, statistics, a histogram. Combines what the caller may see, what is
// asked for and what the store finds; the handler owns transport, turns and deadlines.
import type {
  LogHistogramAnswer,
  LogQueryAnswer,
  LogStatisticsAnswer,
  Shortfall,
} from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { UserInfo } from '../../authentication/user.ts';
import type { Turns } from '../../concurrency/turns.ts';
import { forget } from '../../memory/forgotten.ts';
import type { Scopes } from '../access/scope.ts';
import type { Deadline } from '../deadline.ts';
import { BEGINNING, millisecondsOf } from '../instant.ts';
import type { Buckets, Call, LogHistogram, LogPage, LogStore, PageRequest, Selection } from '../log-store.ts';
import { PAGE_CUT } from '../page-limit.ts';
import { answered } from './answered-records.ts';
import { type BucketsWanted, bucketsOf, tooManyBuckets } from './buckets.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { queryPage } from './page-query.ts';
import { namespacesOf, rangeOf, selectionOf } from './selection.ts';

export interface LogAnswersOptions {
  readonly store: LogStore;
  readonly scopes: Pick<Scopes, 'of'>;
  readonly turns: Turns;
  /** Buckets of one histogram. */
  readonly buckets: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Asked {
  readonly query: LogQuery;
  readonly user: UserInfo;
  readonly deadline: Deadline;
}

/** The writer adds how long it took. */
export type Untimed<Answer> = Omit<Answer, 'took'>;

export class LogAnswers {
  readonly #options: LogAnswersOptions;

  constructor(options: LogAnswersOptions) {
    this.#options = options;
  }

  async query({ query, user, deadline }: Asked): Promise<Untimed<LogQueryAnswer>> {
    const cursor = query.cursor === undefined ? undefined : readCursor(query, user.name, query.cursor);
    const range = cursor?.range ?? rangeOf(query, this.#options.now());
    const selection = await this.selection(query, user, range, deadline);
    const request: PageRequest = {
      order: query.sort,
      size: query.size,
      from: cursor ? 0 : query.from,
      ...(cursor ? { after: cursor.position } : {}),
    };
    const page = selection ? await this.#page(selection, request, deadline) : NOTHING;
    const { count: total, relation: totalRelation } = page.total;
    const { signal } = deadline;
    const records = await answered(query, page.records, { turns: this.#options.turns, signal });
    forget(page.records);
    const next =
      page.next === undefined
        ? {}
        : { cursor: writeCursor(query, user.name, { range, position: page.next }) };
    return {
      query: { total, totalRelation, records, ...next },
      ...partial(page.shortfalls),
    };
  }

  /** As many lines as fit; a cursor leads to the others, and only the store can say where they begin. */
  async #page(selection: Selection, request: PageRequest, deadline: Deadline): Promise<LogPage> {
    const { page, isCut } = await queryPage(this.#options.store, { selection, request, deadline });
    return isCut ? { ...page, shortfalls: [...page.shortfalls, PAGE_CUT] } : page;
  }

  async statistics({ query, user, deadline }: Asked): Promise<Untimed<LogStatisticsAnswer>> {
    const selection = await this.selection(query, user, rangeOf(query, this.#options.now()), deadline);
    if (!selection) return { statistics: { containers: 0, logs: 0, logsRelation: 'eq' } };
    const { logs, containers, containersApproximate, shortfalls } = await this.#options.store.statistics(
      selection,
      deadline.call(),
    );
    return {
      statistics: {
        containers,
        ...(containersApproximate ? { containersApproximate } : {}),
        logs: logs.count,
        logsRelation: logs.relation,
      },
      ...partial(shortfalls),
    };
  }

  async histogram({ query, user, deadline }: Asked): Promise<Untimed<LogHistogramAnswer>> {
    const { store, now } = this.#options;
    const range = rangeOf(query, now());
    const open = range.start === BEGINNING;
    const selection = await this.selection(query, user, range, deadline);
    const first = open && selection ? await firstLine(store, selection, deadline.call()) : undefined;
    const start = open ? first?.time : range.start;
    const missing = first?.shortfalls ?? [];
    if (start === undefined) {
      const totalRelation = missing.length === 0 ? 'eq' : 'gte';
      return { histogram: { total: 0, totalRelation, histograms: [] }, ...partial(missing) };
    }
    const buckets = bucketsOf(this.#bucketsWanted(query, { ...range, start }));
    const { total, counts, shortfalls } = selection
      ? await store.histogram(selection, buckets, deadline.call())
      : noneIn(buckets);
    return {
      histogram: {
        total: total.count,
        // There may be lines before what was found to be the first.
        totalRelation: missing.length === 0 ? total.relation : 'gte',
        histograms: counts.map((count, index) => ({ time: buckets.edges[index] ?? 0, count })),
      },
      ...partial([...missing, ...shortfalls]),
    };
  }

  /** What is wrong with the interval of a histogram, as far as can be told without asking for the first line. */
  intervalFault(query: LogQuery): string | undefined {
    const range = rangeOf(query, this.#options.now());
    if (range.start === BEGINNING) return undefined;
    return tooManyBuckets(this.#bucketsWanted(query, range));
  }

  #bucketsWanted(
    { interval, time_zone: timeZone }: LogQuery,
    { start, end }: Selection['range'],
  ): BucketsWanted {
    const { buckets: limit } = this.#options;
    return { interval, timeZone, start: millisecondsOf(start), end: millisecondsOf(end), limit };
  }

  /** Undefined when there is nothing that the caller may see: then no store needs to be asked. */
  async selection(
    query: LogQuery,
    user: UserInfo,
    range: Selection['range'],
    call: Pick<Call, 'signal'>,
  ): Promise<Selection | undefined> {
    const scope = await this.#options.scopes.of(user, namespacesOf(query), call);
    if (!scope.everything && scope.namespaces.length === 0) return undefined;
    return selectionOf(query, scope, range);
  }
}

const NOTHING: LogPage = {
  total: { count: 0, relation: 'eq' },
  records: [],
  next: undefined,
  shortfalls: [],
};

/** Who may see nothing is shown the same buckets as who finds nothing. */
function noneIn({ edges }: Buckets): LogHistogram {
  return { total: NOTHING.total, counts: edges.slice(1).map(() => 0), shortfalls: [] };
}

async function firstLine(store: LogStore, selection: Selection, call: Call) {
  const page = await store.query(selection, { order: 'asc', size: 1, from: 0, uncounted: true }, call);
  return { time: page.records[0]?.time, shortfalls: page.shortfalls };
}

/** Each once: two questions about the same lines may have the same shortfalls. */
export function partial(shortfalls: readonly Shortfall[]): { partial?: Shortfall[] } {
  if (shortfalls.length === 0) return {};
  return {
    partial: [...new Map(shortfalls.map((each) => [`${each.reason} ${each.message}`, each])).values()],
  };
}
