// Log store that reads VictoriaLogs. Callers are authorized before each call, and each call contains the namespaces
// that the caller may read.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { isTimeout } from '../../../../apis/meta/v1/errors.ts';
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
import { bucketRange } from '../bucket-counts.ts';
import { countByBucket, countContainers, countRecords, type Overview } from './counts.ts';
import { exportRecords } from './export.ts';
import { LiveTails } from './live-tail.ts';
import type { FieldNames } from './logsql.ts';
import { PageReader, readPosition, writePosition } from './page-reader.ts';
import { Client, type ClientOptions } from './query-client.ts';
import { type Query, SelectionQuery } from './selection-query.ts';
import { checkFit } from './self-check.ts';
import { statusErrorOf } from './store-error.ts';

export interface VictoriaLogsOptions extends Omit<ClientOptions, 'now'> {
  readonly fields: FieldNames;
  /** A monotonic clock in ms. */
  readonly now?: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock?: () => number;
}

/** Share of the timeout that counting the total may take. The rest is for reading the records. */
const TOTAL_SHARE = 0.75;

export class VictoriaLogsLogStore implements LogBackend {
  readonly #fields: FieldNames;
  readonly #now: () => number;
  readonly #client: Client;
  readonly #liveTails: LiveTails;

  constructor(options: VictoriaLogsOptions) {
    const { now = () => performance.now(), wallClock = Date.now } = options;
    this.#fields = options.fields;
    this.#now = now;
    this.#client = new Client({ ...options, now });
    this.#liveTails = new LiveTails({ client: this.#client, now, wallClock });
  }

  async query(selection: Selection, request: PageRequest, call: Call): Promise<LogPage> {
    const after = request.after === undefined ? undefined : readPosition(request.after);
    const deadline = this.#deadline(call);
    const query = new SelectionQuery(selection, this.#fields);
    const [all, byName] = [query.within(selection.range), query.withinByName(selection.range)];
    if (!all || !byName) return EMPTY_PAGE;
    const total = await this.#total(all, deadline);
    const overview = total ?? (await countRecords(this.#client, byName, deadline));
    const reader = new PageReader(this.#client, { ...request, query, overview, after }, deadline);
    const { records, next } = await reader.read();
    return {
      total: total ? { count: total.count, relation: 'eq' } : { count: records.length, relation: 'gte' },
      records,
      next: next && writePosition(next),
      shortfalls: total ? [] : [timedOut('the lines could not all be counted within the timeout')],
    };
  }

  async statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    const deadline = this.#deadline(call);
    const query = new SelectionQuery(selection, this.#fields).within(selection.range);
    return query ? countContainers(this.#client, query, this.#fields, deadline) : EMPTY_STATISTICS;
  }

  async histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    const deadline = this.#deadline(call);
    const range = bucketRange(selection.range, buckets);
    const query = new SelectionQuery(selection, this.#fields).within(range);
    if (!query) return emptyHistogram(buckets);
    return countByBucket(this.#client, query, buckets, deadline);
  }

  async *export(selection: Selection, order: Order, call: Call): ExportBatches {
    const deadline = this.#deadline(call);
    const query = new SelectionQuery(selection, this.#fields);
    try {
      yield* exportRecords(this.#client, { query, range: selection.range, order }, deadline);
    } catch (error) {
      if (call.signal.aborted || !deadline.isOver) throw error;
      return { shortfalls: [timedOut('the export took longer than its timeout')] };
    }
    return { shortfalls: [] };
  }

  async *follow(selection: Selection, call: FollowCall): Batches {
    yield* this.#liveTails.follow(new SelectionQuery(selection, this.#fields), call);
  }

  async check(call: Call): Promise<void> {
    await checkFit(this.#client, this.#fields, this.#deadline(call));
  }

  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    this.#client.close();
  }

  #deadline(call: Call): Deadline {
    const { signal } = call;
    if (signal.aborted) throw statusErrorOf(signal.reason, { signal, isOver: false });
    return new Deadline(call, this.#now);
  }

  /** Counts the matching records; returns undefined when that takes too long. */
  async #total(query: Query, deadline: Deadline): Promise<Overview | undefined> {
    try {
      return await countRecords(this.#client, query, deadline.share(TOTAL_SHARE));
    } catch (error) {
      if (!isTimeout(error) || deadline.signal.aborted || deadline.isOver) throw error;
      return undefined;
    }
  }
}

function timedOut(message: string): Shortfall {
  return { reason: 'Timeout', message };
}
