// Log store that searches OpenSearch or Elasticsearch, where log collectors write one document for each line. Callers
// are authorized before the store is called. The store only reads.
import { randomUUID } from 'node:crypto';
import { aborted } from '../../../concurrency/aborted.ts';
import {
  type Buckets,
  type Call,
  type Coverage,
  Deadline,
  type FollowCall,
  type LogBackend,
  type LogHistogram,
  type LogPage,
  type LogRecord,
  type LogStatistics,
  type Order,
  type PageRequest,
  type Selection,
} from '../../log-store.ts';
import { bucketRange, countByTime, countLines, emptyHistogram, NO_STATISTICS } from './counts.ts';
import { CreationBoundSearch } from './creation-bounds.ts';
import { exportRecords, PAGE_MS } from './export.ts';
import { Followers, type FollowTuning } from './follow.ts';
import { IndexSets } from './index-sets.ts';
import { emptyPage, readPage } from './page.ts';
import { PointsInTime } from './point-in-time.ts';
import { SearchClient, type SearchClientOptions } from './search-client.ts';
import { type FieldNames, RecordReader } from './search-response.ts';
import { SelectionQueries, type SelectionQuery } from './selection-query.ts';
import { selfCheck } from './self-check.ts';

export interface OpenSearchLogStoreOptions extends SearchClientOptions {
  readonly indexPrefix: string;
  /**
   * Whether there is one index for each day in UTC, `<indexPrefix>-YYYY.MM.DD`; otherwise all indices with the prefix.
   */
  readonly dailyIndices: boolean;
  readonly fields: FieldNames;
  /** Maximum number of records in one page of an export. */
  readonly pageSize: number;
  /** Time limit of one page of an export, in ms. */
  readonly pageMs?: number;
  /** Pauses before an export replaces a lost point in time, in ms. */
  readonly pausesMs?: readonly number[];
  /** Milliseconds since the epoch. */
  readonly wallClock?: () => number;
  readonly followTuning?: Partial<FollowTuning>;
}

/** Leaves no state in OpenSearch after a call: an export closes its point in time. */
export class OpenSearchLogStore implements LogBackend {
  readonly #options: OpenSearchLogStoreOptions;
  readonly #now: () => number;
  readonly #wallClock: () => number;
  readonly #client: SearchClient;
  readonly #points: PointsInTime;
  readonly #indexSets: IndexSets;
  readonly #queries: SelectionQueries;
  readonly #records: RecordReader;
  readonly #followers: Followers;

  constructor(options: OpenSearchLogStoreOptions) {
    this.#options = options;
    const { fields: names, indexPrefix: prefix, dailyIndices: daily } = options;
    this.#now = options.now ?? (() => performance.now());
    this.#wallClock = options.wallClock ?? Date.now;
    this.#client = new SearchClient(options);
    this.#points = new PointsInTime(this.#client);
    this.#indexSets = new IndexSets(this.#client, names, this.#now);
    this.#records = new RecordReader(names);
    this.#queries = new SelectionQueries({
      naming: { prefix, daily },
      names,
      indexSets: this.#indexSets,
      creationBounds: new CreationBoundSearch(this.#client, this.#wallClock),
    });
    this.#followers = new Followers({
      client: this.#client,
      queries: this.#queries,
      indexSets: this.#indexSets,
      records: this.#records,
      preference: `followers-${randomUUID()}`,
      now: this.#now,
      wallClock: this.#wallClock,
      tuning: options.followTuning,
    });
  }

  query(selection: Selection, page: PageRequest, call: Call): Promise<LogPage> {
    const read = (selected: SelectionQuery, deadline: Deadline) =>
      readPage({ client: this.#client, records: this.#records, selected, deadline }, page);
    return this.#run(selection, call, read, emptyPage());
  }

  statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    const count = (selected: SelectionQuery, deadline: Deadline) =>
      countLines(this.#client, selected, deadline);
    return this.#run(selection, call, count, NO_STATISTICS);
  }

  histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    const within = { ...selection, range: bucketRange(selection, buckets) };
    const count = (selected: SelectionQuery, deadline: Deadline) =>
      countByTime(this.#client, selected, buckets, deadline);
    return this.#run(within, call, count, emptyHistogram(buckets));
  }

  async *export(
    selection: Selection,
    order: Order,
    call: Call,
  ): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
    const deadline = this.#deadline(call);
    const plan = (): Promise<SelectionQuery | undefined> => {
      // Reads the layout again, because a point in time cannot include indices later.
      this.#indexSets.invalidate();
      return this.#queries.query(selection, deadline.within(PAGE_MS).call());
    };
    const { pageSize, pageMs, pausesMs } = this.#options;
    const options = { points: this.#points, records: this.#records, pageSize, pageMs, pausesMs, plan };
    return yield* exportRecords(options, order, deadline);
  }

  follow(selection: Selection, call: FollowCall): AsyncGenerator<readonly LogRecord[], void, undefined> {
    return this.#followers.follow(selection, call);
  }

  /** Health check. It needs only the permissions of queries. */
  check(call: Call): Promise<void> {
    const { indexPrefix: prefix, dailyIndices: daily, fields: names } = this.#options;
    const options = {
      client: this.#client,
      indexSets: this.#indexSets,
      points: this.#points,
      records: this.#records,
      names,
      naming: { prefix, daily },
      wallClock: this.#wallClock,
    };
    return selfCheck(options, call);
  }

  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    this.#client.close();
  }

  async #run<Result>(
    selection: Selection,
    call: Call,
    run: (selected: SelectionQuery, deadline: Deadline) => Promise<Result>,
    none: Result,
  ): Promise<Result> {
    const deadline = this.#deadline(call);
    return this.#queries.run(
      selection,
      () => deadline.call(),
      (selected) => run(selected, deadline),
      none,
    );
  }

  #deadline(call: Call): Deadline {
    call.signal.throwIfAborted();
    return new Deadline(call, this.#now);
  }
}
