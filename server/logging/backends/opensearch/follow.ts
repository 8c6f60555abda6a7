// Live tail that polls OpenSearch or Elasticsearch for new records. Records that become searchable more than 15
// seconds late can be missing.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Admission } from '../../../admission/admission.ts';
import type { Seats } from '../../../admission/seats.ts';
import { instantOf, millisecondsOf, millisecondsOfNanoseconds } from '../../store/instant.ts';
import type { Batches, Call, FollowCall, LogRecord, Selection } from '../../store/log-store.ts';
import { OverlapWindow } from '../../store/overlap-window.ts';
import { withFewerLines } from '../../store/page-limit.ts';
import { isIndexAccessDenied } from '../../store/store-errors.ts';
import { polledBatches } from '../polled-batches.ts';
import {
  newHits,
  type Position,
  positionBehind,
  repeatedHits,
  searchAfter,
  sortedSearch,
} from './hit-page.ts';
import type { IndexSets } from './index-sets.ts';
import type { SearchClient } from './search-client.ts';
import type { Hit, RecordReader } from './search-hit.ts';
import { assertComplete } from './search-response.ts';
import type { SelectionQueries, SelectionQuery } from './selection-query.ts';

export interface FollowTuning {
  /** Minimum time between two polls, in ms. */
  readonly pollMs: number;
  /** Pause after a failed poll, in ms. */
  readonly retryMs: number;
  /**
   * Maximum delay in ms from the time of a record until it is searchable. Later records are lost if newer ones exist.
   */
  readonly lateMs: number;
  readonly pageSize: number;
  /** Maximum number of digests of delivered records. With more records, less than `lateMs` is read again. */
  readonly digests: number;
}

const TUNING: FollowTuning = {
  pollMs: 150,
  retryMs: 1_000,
  lateMs: 15_000,
  pageSize: 1_000,
  digests: 100_000,
};

/** Concurrent searches of all live tails; a seat stays occupied during the pause after its search. */
const SEATS = 5;
/**
 * A seat pauses this many times as long as its search took. With five seats, all live tails use about one thread of the
 * store.
 */
const PAUSE_FACTOR = 4;
const MAX_PAUSE_MS = 5_000;
const SEARCH_MS = 10_000;
const DAY_MS = 86_400_000;

interface FollowersOptions {
  /** Default: an Admission without metrics. */
  readonly admission?: Pick<Admission, 'pool'> | undefined;
  readonly client: SearchClient;
  readonly queries: SelectionQueries;
  readonly indexSets: Pick<IndexSets, 'invalidate'>;
  readonly records: RecordReader;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Shorter times for tests. */
  readonly tuning?: Partial<FollowTuning> | undefined;
}

export class Followers {
  readonly #options: FollowersOptions;
  readonly #tuning: FollowTuning;
  readonly #seats: Seats;

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.#tuning = { ...TUNING, ...options.tuning };
    const { admission = new Admission() } = options;
    this.#seats = admission.pool('log-searches', { capacity: SEATS, sharing: 'reserve' });
  }

  follow(selection: Selection, call: FollowCall): Batches {
    const { signal } = call;
    const { pollMs, retryMs } = this.#tuning;
    const search: Search = (work) => this.#search(work, call);
    const follower = new Follower(this.#options, this.#tuning, selection, search);
    return polledBatches({
      signal,
      now: this.#options.now,
      poll: () => follower.poll(call),
      pauseMs: ({ hasFailed }) => (hasFailed || !follower.hasIndices ? retryMs : pollMs),
    });
  }

  async #search<Result>(work: () => Promise<Result>, { signal, caller = '' }: FollowCall): Promise<Result> {
    const { now } = this.#options;
    const seat = await this.#seats.take(caller, { signal });
    const began = now();
    try {
      return await work();
    } finally {
      const ms = Math.min(MAX_PAUSE_MS, (now() - began) * PAUSE_FACTOR);
      void delay(ms, undefined, { ref: false }).then(() => seat[Symbol.dispose]());
    }
  }
}

/** Waits for a seat and runs a search. */
type Search = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** State of one live tail: its position, and digests of the records that it delivered in the last 15 s. */
class Follower {
  readonly #options: FollowersOptions;
  readonly #tuning: FollowTuning;
  readonly #selection: Selection;
  readonly #search: Search;
  readonly #delivered: OverlapWindow;
  /** Searches with the same `preference` use the same copies of the shards. */
  readonly #preference = `follow-${randomUUID()}`;
  /** Whether the last poll found indices to search. */
  hasIndices = false;
  #position: Position | undefined;

  constructor(options: FollowersOptions, tuning: FollowTuning, selection: Selection, search: Search) {
    this.#options = options;
    this.#tuning = tuning;
    this.#selection = selection;
    this.#search = search;
    this.#delivered = new OverlapWindow({ limit: tuning.digests, wallClock: options.wallClock });
  }

  /** Returns the records that were not delivered before. */
  async *poll(call: FollowCall): Batches {
    try {
      yield* this.#poll(call);
    } catch (error) {
      if (!isIndexAccessDenied(error)) throw error;
      // Indices were closed or created, so the layout is read again.
      this.#options.indexSets.invalidate();
      yield* this.#poll(call);
    }
  }

  async *#poll({ signal, caller }: FollowCall): Batches {
    const { queries, wallClock } = this.#options;
    const { range } = this.#selection;
    const begin = millisecondsOf(range.start);
    const reached = this.#position ? millisecondsOfNanoseconds(this.#position.time) : begin;
    const from = this.#delivered.startRead(Math.max(begin, reached - this.#tuning.lateMs));
    const start = from > begin ? instantOf(from) : range.start;
    // Includes records of nodes whose clocks are up to a day ahead.
    const end = instantOf(wallClock() + DAY_MS);
    const call = { signal, caller, timeoutMs: SEARCH_MS };
    const selected = await queries.query({ ...this.#selection, range: { start, end } }, call);
    this.hasIndices = selected !== undefined;
    if (!selected) return;
    const counted = yield* this.#read(selected, this.#position, call);
    // More records than delivered: records before the position became searchable late.
    if (!this.#position || counted <= this.#delivered.size) return;
    if (this.#delivered.startRead(from) > from) return;
    yield* this.#read(selected, undefined, call);
  }

  /** Reads all pages after the position. Returns the number of records in the whole range. */
  async *#read(
    selected: SelectionQuery,
    begin: Position | undefined,
    call: Call,
  ): AsyncGenerator<readonly LogRecord[], number, undefined> {
    const { client } = this.#options;
    const { indices } = selected;
    let position = begin;
    let { pageSize } = this.#tuning;
    for (;;) {
      const repeated = repeatedHits(position);
      const after = position && searchAfter(position, 'asc', indices.nanoseconds);
      const { result: response, requested } = await withFewerLines(
        pageSize,
        (size) => {
          const page = sortedSearch(selected, { order: 'asc', size: size + repeated });
          return this.#search(() =>
            client.search(indices, { ...page, track_total_hits: true }, call, {
              after,
              preference: this.#preference,
            }),
          );
        },
        call.signal,
      );
      pageSize = requested;
      // A partial result fails the poll, because the position would skip the records of failed shards.
      assertComplete(response);
      const hits = newHits(response.hits, position);
      const batch = this.#newRecords(hits);
      if (batch.length > 0) yield batch;
      const last = hits.at(-1);
      if (!last || response.hits.length < requested + repeated) return response.total.count;
      position = positionBehind(response.hits, last, position);
    }
  }

  #newRecords(hits: readonly Hit[]): LogRecord[] {
    const { wallClock, records } = this.#options;
    const now = wallClock();
    const fresh: LogRecord[] = [];
    for (const hit of hits) {
      const milliseconds = millisecondsOfNanoseconds(hit.time);
      // The position never passes the present, because records before a future one would be skipped.
      if (milliseconds <= now && isBehind(hit, this.#position)) {
        this.#position = { time: hit.time, sequence: hit.sequence, returned: [] };
      }
      if (this.#delivered.isNew(`${hit.index}\n${hit.id}`, milliseconds)) fresh.push(records.read(hit));
    }
    return fresh;
  }
}

function isBehind(hit: Pick<Position, 'time' | 'sequence'>, position: Position | undefined): boolean {
  if (!position) return true;
  return hit.time > position.time || (hit.time === position.time && hit.sequence > position.sequence);
}
