// Records as they come: whenever the indices hold more than before, the store is asked for what lies behind the last one.
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { pause } from '../../../../concurrency/pause.ts';
import type { Call, LogRecord, Selection } from '../../../log-store.ts';
import { isSearchRefused } from '../../../store-errors.ts';
import type { Searches } from '../searches/searches.ts';
import type { SelectionQueries } from '../selection/selection-queries.ts';
import { Follower, type FollowerOptions, type FollowerTuning } from './follower.ts';
import { type LineCount, LineCountPoller } from './line-count-poller.ts';
import { Pace } from './pace.ts';

export interface FollowTuning extends FollowerTuning {
  /** Between two looks at whether there is anything new, ms; one for all who follow the same indices. */
  readonly pollMs: number;
  /** After so many ms the store is asked for lines even if nothing seems to be new: as many may have been deleted. */
  readonly surelyMs: number;
  /** After a failure, and while there are no indices; ms. */
  readonly retryMs: number;
  /** How long a store may fail before the follower is told. */
  readonly patienceMs: number;
}

const TUNING: FollowTuning = {
  pollMs: 150,
  surelyMs: 5_000,
  retryMs: 1_000,
  lateMs: 15_000,
  patienceMs: 60_000,
  pageSize: 1_000,
  remembered: 100_000,
};

export interface FollowersOptions {
  readonly searches: Searches;
  readonly queries: SelectionQueries;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Shorter times for tests. */
  readonly tuning?: Partial<FollowTuning>;
}

/** All followers: they share the questions that are the same for them, and a limited share of the store's time. */
export class Followers {
  readonly #options: FollowerOptions;
  readonly #tuning: FollowTuning;
  readonly #counts: LineCountPoller;
  readonly #now: () => number;

  constructor({ searches, queries, now, wallClock, tuning }: FollowersOptions) {
    this.#now = now;
    this.#tuning = { ...TUNING, ...tuning };
    this.#options = { searches, queries, wallClock, pace: new Pace(now) };
    this.#counts = new LineCountPoller({ searches, now, everyMs: this.#tuning.pollMs });
  }

  async *follow(
    selection: Selection,
    { signal }: Pick<Call, 'signal'>,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { surelyMs, retryMs, patienceMs } = this.#tuning;
    const follower = new Follower(this.#options, this.#tuning, selection);
    let failingSince: number | undefined;
    let answered = false;
    let count: LineCount;
    while (!signal.aborted) {
      try {
        for await (const batch of follower.news(signal)) {
          answered = true;
          yield batch;
        }
        failingSince = undefined;
        answered = true;
        const { indices } = follower;
        if (indices !== undefined) {
          count = await this.#counts.next(indices, count, { signal, atMostMs: surelyMs });
          continue;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isSearchRefused(error)) this.#options.queries.forgetIndices();
        failingSince ??= this.#now();
        const isPassing = error instanceof StatusError && error.code >= 500;
        // A new follower is told at once that the store is down; one that is under way would only start again.
        const isOver = !answered || this.#now() - failingSince > patienceMs;
        if (!isPassing || isOver) throw error;
      }
      await pause(retryMs, signal);
    }
  }
}
