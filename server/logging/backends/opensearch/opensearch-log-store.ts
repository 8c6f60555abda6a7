// Log store that searches OpenSearch or Elasticsearch, where each log line is a document. Callers are authorized
// before each call to the store.
import type { Admission } from '../../../admission/admission.ts';
import { aborted } from '../../../concurrency/aborted.ts';
import {
  type Batches,
  type Buckets,
  type Call,
  Deadline,
  EMPTY_PAGE,
  EMPTY_STATISTICS,
  type ExportBatches,
  emptyHistogram,
  type FollowCall,
  type LogBackend,
  type LogHistogram,
  type LogPage,
  type LogStatistics,
  type Order,
  type PageRequest,
  type Selection,
} from '../../store/log-store.ts';
import { isIndexAccessDenied } from '../../store/store-errors.ts';
import { bucketRange } from '../bucket-counts.ts';
import { countByTime, countLines } from './counts.ts';
import { exportRecords, PAGE_MS } from './export.ts';
import { Followers, type FollowTuning } from './follow.ts';
import { readPage } from './hit-page.ts';
import { IndexSets } from './index-sets.ts';
import { SearchClient, type SearchClientOptions } from './search-client.ts';
import { type FieldNames, RecordReader } from './search-hit.ts';
import { SelectionQueries, type SelectionQuery } from './selection-query.ts';
import { type SelfCheckOptions, selfCheck } from './self-check.ts';

export interface OpenSearchLogStoreOptions extends SearchClientOptions {
  readonly indexPrefix: string;
  /**
   * Whether there is one index for each day in UTC, `<indexPrefix>-YYYY.MM.DD`; otherwise all indices with the prefix.
   */
  readonly dailyIndices: boolean;
  readonly fields: FieldNames;
  readonly admission?: Pick<Admission, 'pool'>;
  /** Maximum number of records in one page of an export. */
  readonly pageSize?: number;
  /** Time limit of one page of an export, in ms. */
  readonly pageMs?: number;
  /** Pauses before an export requests a failed page again, in ms. */
  readonly pausesMs?: readonly number[];
  /** Milliseconds since the epoch. */
  readonly wallClock?: () => number;
  readonly followTuning?: Partial<FollowTuning>;
}

export class OpenSearchLogStore implements LogBackend {
  readonly #options: OpenSearchLogStoreOptions;
  readonly #now: () => number;
  readonly #parts: SelfCheckOptions;
  readonly #queries: SelectionQueries;
  readonly #followers: Followers;

  constructor(options: OpenSearchLogStoreOptions) {
    const { fields: names, indexPrefix: prefix, dailyIndices: daily } = options;
    const { now = () => performance.now(), wallClock = Date.now } = options;
    const naming = { prefix, daily };
    const client = new SearchClient({ ...options, now });
    this.#options = options;
    this.#now = now;
    this.#parts = {
      client,
      names,
      naming,
      indexSets: new IndexSets(client, names, naming, now),
      records: new RecordReader(names),
    };
    this.#queries = new SelectionQueries({ ...this.#parts, wallClock });
    this.#followers = new Followers({
      ...this.#parts,
      admission: options.admission,
      queries: this.#queries,
      now,
      wallClock,
      tuning: options.followTuning,
    });
  }

  query(selection: Selection, page: PageRequest, call: Call): Promise<LogPage> {
    const read = (selected: SelectionQuery, deadline: Deadline) =>
      readPage({ ...this.#parts, selected, deadline }, page);
    return this.#run(selection, call, read, EMPTY_PAGE);
  }

  statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    const count = (selected: SelectionQuery, deadline: Deadline) =>
      countLines(this.#parts.client, selected, deadline);
    return this.#run(selection, call, count, EMPTY_STATISTICS);
  }

  histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    const within = { ...selection, range: bucketRange(selection.range, buckets) };
    const count = (selected: SelectionQuery, deadline: Deadline) =>
      countByTime(this.#parts.client, selected, buckets, deadline);
    return this.#run(within, call, count, emptyHistogram(buckets));
  }

  async *export(selection: Selection, order: Order, call: Call): ExportBatches {
    const deadline = this.#deadline(call);
    const plan = (): Promise<SelectionQuery | undefined> => {
      // An export takes long, so it reads the layout again.
      this.#parts.indexSets.invalidate();
      return this.#queries.query(selection, deadline.within(PAGE_MS).call());
    };
    const { pageSize, pageMs, pausesMs } = this.#options;
    const options = { ...this.#parts, pageSize, pageMs, pausesMs, plan };
    return yield* exportRecords(options, order, deadline);
  }

  follow(selection: Selection, call: FollowCall): Batches {
    return this.#followers.follow(selection, call);
  }

  /** Health check. It needs only the permissions of queries. */
  check(call: Call): Promise<void> {
    return selfCheck(this.#parts, call);
  }

  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    this.#parts.client.close();
  }

  /**
   * Returns the result of `run`; `none` if the selection can match no line. If the indices have changed since their
   * layout was read, it retries once with the new layout.
   */
  async #run<Result>(
    selection: Selection,
    call: Call,
    run: (selected: SelectionQuery, deadline: Deadline) => Promise<Result>,
    none: Result,
  ): Promise<Result> {
    const deadline = this.#deadline(call);
    const attempt = async (): Promise<Result> => {
      const selected = await this.#queries.query(selection, deadline.call());
      return selected ? run(selected, deadline) : none;
    };
    try {
      return await attempt();
    } catch (error) {
      if (!isIndexAccessDenied(error)) throw error;
      this.#parts.indexSets.invalidate();
      return attempt();
    }
  }

  #deadline(call: Call): Deadline {
    call.signal.throwIfAborted();
    return new Deadline(call, this.#now);
  }
}
