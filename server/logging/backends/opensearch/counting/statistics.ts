// How many lines there are, and of how many containers. A store counts different values by looking at that of each line.
// Where all lines of a time are meant and containers are few, it lists them instead: how many lines each has, the index
// knows for every part that lies in the time as a whole.
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { ExpiringMap } from '../../../../cache/expiring-map.ts';
import type { Call, LogStatistics } from '../../../log-store.ts';
import { distinct } from '../paging/sums.ts';
import { type AggregatedFields, aggregatedFields } from '../requests/aggregated-fields.ts';
import { NO_ANSWER, type SearchAnswer } from '../requests/search-answer.ts';
import type { Searches } from '../requests/searches.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import { COUNTED, EXACT_CARDINALITY, LISTED, MAX_LISTED, type Way } from './ways.ts';

/**
 * Indices may know far more containers than wrote in the time, and put all of them in order for a list after each change.
 * So where lists take so many times as long as counting did, and more than so many ms, and that so often in a row, none is
 * asked for again for a while. The first of all does so anyway.
 */
const SLOW = { times: 2, ms: 50, inRow: 3 };
const TRUSTED_MS = 600_000;
const KEPT = 256;

/** What is known about some indices. */
interface Known {
  readonly way: Way;
  /** How long it took to count. */
  readonly ms: number;
  /** Lists in a row that were slow. */
  readonly slow: number;
}

interface Answered {
  readonly answers: readonly SearchAnswer[];
  /** Undefined where a list did not come to its end. */
  readonly containers: number | undefined;
  readonly ms: number;
}

export class Statistics {
  readonly #searches: Searches;
  readonly #now: () => number;
  readonly #known: ExpiringMap<string, Known>;

  /** `now` is a monotonic clock in ms. */
  constructor(searches: Searches, now: () => number) {
    this.#searches = searches;
    this.#now = now;
    this.#known = new ExpiringMap({ most: KEPT, ttlMs: TRUSTED_MS, now });
  }

  /** `timed` gives each request what is left of the time. */
  async count(selected: SelectionQuery, timed: () => Call): Promise<LogStatistics> {
    const ids = selected.fields.exact('containerID');
    const places = aggregatedFields(selected.indices, ids);
    const ask = (way: Way): Promise<Answered> => this.#ask(way, selected, places, timed);
    const { answers, containers = 0 } = selected.isWhole
      ? await this.#quickest(selected.indices, ask)
      : await ask(COUNTED);
    const total = answers[0]?.total ?? NO_ANSWER.total;
    const all = distinct([...selected.shortfalls, ...answers.flatMap(({ shortfalls }) => shortfalls)]);
    return {
      logs: { count: total.count, relation: all.length === 0 ? total.relation : 'gte' },
      containers,
      // A container whose lines are in indices of both kinds is counted in each.
      containersApproximate: containers > EXACT_CARDINALITY || ids.fields.length > 1 || ids.missing > 0,
      shortfalls: all,
    };
  }

  async #quickest(indices: string, ask: (way: Way) => Promise<Answered>): Promise<Answered> {
    const known = this.#known.get(indices);
    const listed = known?.way === LISTED ? await this.#listed(indices, known, ask) : undefined;
    if (listed) return listed;
    const counted = await ask(COUNTED);
    const { containers = 0, ms } = counted;
    if (!known) this.#known.set(indices, { way: containers <= MAX_LISTED ? LISTED : COUNTED, ms, slow: 0 });
    return counted;
  }

  /** Undefined where there is no list, or not of all. */
  async #listed(
    indices: string,
    known: Known,
    ask: (way: Way) => Promise<Answered>,
  ): Promise<Answered | undefined> {
    const listed = await ask(LISTED).catch(ifAllowed);
    const isAll = listed?.containers !== undefined;
    const isSlow = isAll && listed.ms > SLOW.ms && listed.ms > SLOW.times * known.ms;
    const slow = isSlow ? known.slow + 1 : 0;
    this.#known.set(indices, { ...known, way: isAll && slow < SLOW.inRow ? LISTED : COUNTED, slow });
    return isAll ? listed : undefined;
  }

  async #ask(
    way: Way,
    { counting: query }: SelectionQuery,
    places: readonly AggregatedFields[],
    timed: () => Call,
  ): Promise<Answered> {
    const began = this.#now();
    const answers = await Promise.all(
      places.map(({ indices, fields }, n) => {
        const body = { query, size: 0, track_total_hits: n === 0, aggs: way.aggregations(fields) };
        return this.#searches.searchIndices(indices, body, { ...timed(), omitted: way.omitted });
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

/** A store may be told to list fewer values than we ask for. */
function ifAllowed(error: unknown): undefined {
  if (!(error instanceof StatusError) || error.code !== 400) throw error;
}
