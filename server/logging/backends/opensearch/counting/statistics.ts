// How many lines there are, and of how many containers. A store counts different values by looking at that of each line.
// Where all lines of a time are meant and containers are few, it may be quicker to list them: how many lines each has, the
// index knows for every part that lies in the time as a whole. Which way is, depends on shards, lines and the time.
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { ExpiringMap } from '../../../../memory/expiring-map.ts';
import type { Deadline } from '../../../deadline.ts';
import { millisecondsOf } from '../../../instant.ts';
import type { LogStatistics } from '../../../log-store.ts';
import { type AggregatedFields, aggregatedFields } from '../fields/aggregated-fields.ts';
import { distinct } from '../paging/sums.ts';
import { NO_ANSWER, type SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import { QuickestWay } from './quickest-way.ts';
import { COUNTED, COUNTED_FEW, EXACT_CARDINALITY, LISTED, MAX_FEW, type Way } from './ways.ts';

/** How long it counts what was learned of some indices; of a time in which nothing else is asked, too. */
const TRUSTED_MS = 600_000;
const KEPT = 256;

interface Answered {
  readonly answers: readonly SearchAnswer[];
  /** Undefined where they are more than the way can tell. */
  readonly containers: number | undefined;
  readonly ms: number;
}

export class Statistics {
  readonly #searches: Searches;
  readonly #now: () => number;
  readonly #known: ExpiringMap<string, QuickestWay>;

  /** `now` is a monotonic clock in ms. */
  constructor(searches: Searches, now: () => number) {
    this.#searches = searches;
    this.#now = now;
    this.#known = new ExpiringMap({ most: KEPT, ttlMs: TRUSTED_MS, now });
  }

  async count(selected: SelectionQuery, deadline: Deadline): Promise<LogStatistics> {
    const ids = selected.fields.listed('containerID');
    const places = aggregatedFields(selected.indices, ids);
    const ask = (way: Way): Promise<Answered> => this.#ask(way, selected, places, deadline);
    const { answers, containers = 0 } = selected.isWhole
      ? await this.#quickest(kindOf(selected), ask)
      : await ask(COUNTED);
    const total = answers[0]?.total ?? NO_ANSWER.total;
    const all = distinct([...selected.shortfalls, ...answers.flatMap(({ shortfalls }) => shortfalls)]);
    return {
      logs: { count: total.count, relation: all.length === 0 ? total.relation : 'gte' },
      containers,
      // A container whose lines are in indices of both kinds is counted in each.
      containersApproximate:
        containers > EXACT_CARDINALITY || ids.fields.length > 1 || ids.missing.length > 0,
      shortfalls: all,
    };
  }

  async #quickest(kind: string, ask: (way: Way) => Promise<Answered>): Promise<Answered> {
    const known = this.#known.get(kind);
    if (!known) {
      const counted = await ask(COUNTED);
      const { containers = 0 } = counted;
      this.#known.set(kind, new QuickestWay(containers <= MAX_FEW ? [LISTED, COUNTED_FEW] : []));
      return counted;
    }
    const { way } = known;
    if (!way) return ask(COUNTED);
    const answered = await ask(way).catch(ifAllowed);
    if (answered?.containers === undefined) {
      this.#known.set(kind, new QuickestWay([]));
      return ask(COUNTED);
    }
    known.took(way, answered.ms);
    return answered;
  }

  async #ask(
    way: Way,
    { counting: query }: SelectionQuery,
    places: readonly AggregatedFields[],
    deadline: Deadline,
  ): Promise<Answered> {
    const began = this.#now();
    const answers = await Promise.all(
      places.map(({ indices, fields }, n) => {
        const body = { query, size: 0, track_total_hits: n === 0, aggs: way.aggregations(fields) };
        return this.#searches.searchUnchanged(indices, body, { ...deadline.call(), omitted: way.omitted });
      }),
    );
    const counts = answers.map(({ aggregations }) => way.containers(aggregations));
    const containers = counts.reduce<number | undefined>(
      (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
      0,
    );
    return { answers, containers, ms: this.#now() - began };
  }
}

/** The same indices are quicker to count in one way for a short time, in another for a long one. */
function kindOf({ indices, range }: SelectionQuery): string {
  const ms = millisecondsOf(range.end) - millisecondsOf(range.start);
  return `${Math.round(Math.log2(Math.max(1, ms)))} ${indices}`;
}

/** A store may be told to list fewer values than we ask for. */
function ifAllowed(error: unknown): undefined {
  if (!(error instanceof StatusError) || error.code !== 400) throw error;
}
