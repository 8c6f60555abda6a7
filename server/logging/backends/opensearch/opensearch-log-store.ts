// Logs in OpenSearch or Elasticsearch, as collectors write them there: one document a line. Owns what is asked and how
// the answers are read; access is decided before, and lines are collected by other programs.
import { randomUUID } from 'node:crypto';
import { aborted } from '../../../concurrency/aborted.ts';
import { inParallel } from '../../../concurrency/parallel.ts';
import type { Turns } from '../../../concurrency/turns.ts';
import { Deadline } from '../../deadline.ts';
import type {
  Buckets,
  Call,
  Coverage,
  LogBackend,
  LogHistogram,
  LogPage,
  LogRecord,
  LogStatistics,
  Order,
  PageRequest,
  Selection,
} from '../../log-store.ts';
import { isSearchRefused } from '../../store-errors.ts';
import { Connection, type ConnectionOptions } from './connection/connection.ts';
import { bucketRange, countByTime } from './counting/histogram.ts';
import { Statistics } from './counting/statistics.ts';
import { PAGE_MS } from './exporting/export.ts';
import { exportRecords } from './exporting/resumed-export.ts';
import type { FieldNames } from './fields/field-names.ts';
import { Followers, type FollowTuning } from './following/follow.ts';
import { FirstHits } from './paging/first-hits.ts';
import { queryPage } from './paging/page-query.ts';
import { sumOfHistograms, sumOfStatistics } from './paging/sums.ts';
import { endingTogether } from './searches/ending-together.ts';
import { PointsInTime } from './searches/point-in-time.ts';
import { Searches } from './searches/searches.ts';
import { FieldProbe } from './selection/field-probe.ts';
import { Predecessors } from './selection/predecessors.ts';
import { SelectionQueries } from './selection/selection-queries.ts';
import type { SelectionQuery } from './selection/selection-query.ts';
import { checkFit } from './self-check.ts';

export interface OpenSearchLogStoreOptions extends ConnectionOptions {
  /** Prefix of the names of the indices. */
  readonly indexPrefix: string;
  /** Whether there is one index a day of UTC, `<indexPrefix>-YYYY.MM.DD`; else all that begin with the prefix count. */
  readonly dailyIndices: boolean;
  readonly fields: FieldNames;
  /** Records that one request of an export fetches, at most. */
  readonly pageSize: number;
  /** Milliseconds that such a request may take. */
  readonly pageMs?: number;
  /** Pauses of an export that has lost its point in time, in ms; shorter ones for tests. */
  readonly pausesMs?: readonly number[];
  /** The first pause of two where the store has too much to do, in ms; a shorter one for tests. */
  readonly busyPauseMs?: number;
  /** In which answers are read; some of its own when none are given. */
  readonly turns?: Turns;
  /** Milliseconds since the epoch. */
  readonly wallClock?: () => number;
  readonly followTuning?: Partial<FollowTuning>;
}

/** Used where a question needs several requests. */
const SLICES_AT_A_TIME = 2;

/** Throws as LogStore says. Keeps nothing in the store between two calls; an export closes what it opened. */
export class OpenSearchLogStore implements LogBackend {
  readonly #options: OpenSearchLogStoreOptions;
  readonly #now: () => number;
  readonly #connection: Connection;
  readonly #searches: Searches;
  readonly #points: PointsInTime;
  readonly #probe: FieldProbe;
  readonly #queries: SelectionQueries;
  readonly #firstHits: FirstHits;
  readonly #statistics: Statistics;
  readonly #followers: Followers;

  constructor(options: OpenSearchLogStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    const wallClock = options.wallClock ?? Date.now;
    this.#connection = new Connection({ ...options, now: this.#now });
    this.#searches = new Searches({ ...options, connection: this.#connection, now: this.#now });
    this.#points = new PointsInTime(this.#searches);
    this.#probe = new FieldProbe(this.#searches, options.fields, this.#now);
    this.#queries = new SelectionQueries({
      searches: this.#searches,
      naming: { prefix: options.indexPrefix, daily: options.dailyIndices },
      probe: this.#probe,
      predecessors: new Predecessors(this.#searches, this.#now, wallClock),
    });
    this.#firstHits = new FirstHits(this.#searches, this.#now);
    this.#statistics = new Statistics(this.#searches, this.#now);
    this.#followers = new Followers({
      searches: this.#searches.preferring(`followers-${randomUUID()}`),
      queries: this.#queries,
      now: this.#now,
      wallClock,
      ...(options.followTuning === undefined ? {} : { tuning: options.followTuning }),
    });
  }

  async query(selection: Selection, page: PageRequest, call: Call): Promise<LogPage> {
    const deadline = this.#deadline(call);
    const sources = { searches: this.#searches, firstHits: this.#firstHits };
    return this.#asking(
      () => this.#queries.inTime(selection, deadline.call()),
      (slices) => queryPage(sources, slices, page, deadline),
    );
  }

  async statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    const counted = await this.#ofEachSlice(selection, this.#deadline(call), (slice, deadline) =>
      this.#statistics.count(slice, deadline),
    );
    return sumOfStatistics(counted);
  }

  async histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    const within = { ...selection, range: bucketRange(selection, buckets) };
    const counted = await this.#ofEachSlice(within, this.#deadline(call), (slice, deadline) =>
      countByTime(this.#searches, slice, buckets, deadline.call()),
    );
    return sumOfHistograms(counted, buckets);
  }

  async *export(
    selection: Selection,
    order: Order,
    call: Call,
  ): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
    const deadline = this.#deadline(call);
    const plan = (range: Selection['range']): Promise<readonly SelectionQuery[]> => {
      // What a point in time does not hold is missing to its end.
      this.#queries.forgetIndices();
      return this.#queries.inTime({ ...selection, range }, deadline.within(PAGE_MS).call());
    };
    const { pageSize, pageMs = PAGE_MS, pausesMs } = this.#options;
    const options = { searches: this.#searches, points: this.#points, pageSize, pageMs, pausesMs, plan };
    return yield* exportRecords(options, selection.range, order, deadline);
  }

  follow(
    selection: Selection,
    call: Pick<Call, 'signal'>,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    return this.#followers.follow(selection, call);
  }

  /** Asks as queries do: with no right of the cluster, but those to search these indices. */
  async check(call: Call): Promise<void> {
    const { indexPrefix: prefix, dailyIndices: daily, wallClock = Date.now } = this.#options;
    const naming = { prefix, daily };
    await checkFit(
      { searches: this.#searches, probe: this.#probe, points: this.#points, naming, wallClock },
      call,
    );
  }

  /** Keeps nothing up to date; at the end it closes the connections. */
  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    this.#connection.close();
  }

  #ofEachSlice<Counted>(
    selection: Selection,
    deadline: Deadline,
    count: (slice: SelectionQuery, deadline: Deadline) => Promise<Counted>,
  ): Promise<Counted[]> {
    return this.#asking(
      () => this.#queries.byNamespace(selection, deadline.call()),
      (slices) =>
        endingTogether(deadline.call(), ({ signal }) =>
          inParallel(SLICES_AT_A_TIME, slices, (slice) => count(slice, deadline.under(signal))),
        ),
    );
  }

  /** Where a search is refused, an index was blocked since they were looked at: that is done anew, once. */
  async #asking<Answer>(
    plan: () => Promise<readonly SelectionQuery[]>,
    ask: (slices: readonly SelectionQuery[]) => Promise<Answer>,
  ): Promise<Answer> {
    const slices = await plan();
    try {
      return await ask(slices);
    } catch (error) {
      if (!isSearchRefused(error)) throw error;
      this.#queries.forgetIndices();
      return ask(await plan());
    }
  }

  /** Throws when nobody waits for an answer any more. */
  #deadline(call: Call): Deadline {
    call.signal.throwIfAborted();
    return new Deadline(call, this.#now);
  }
}
