// Indices that the store has and does not search: closed ones, which it leaves out in silence, and those that it refuses
// to search, because of which it refuses all of a question. Owns how they are found out with no right but to search.

import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { inParallel } from '../../../../concurrency/parallel.ts';
import type { Call } from '../../../log-store.ts';
import { isSearchRefused } from '../../../store-errors.ts';
import { ROOM_WITH_EXCLUDED } from '../connection/first-line.ts';
import { refusedIndexIn } from '../connection/refusal.ts';
import { LENIENT, type Searches } from '../searches/searches.ts';

export interface Unsearchable {
  readonly refused: readonly string[];
  readonly closed: readonly string[];
  /** Whether more are closed than are named. */
  readonly areMoreClosed: boolean;
}

/** Indices, as a part of a path, without those that the store refuses to search. */
export interface Remaining extends Unsearchable {
  readonly indices: string;
}

type State = 'searchable' | 'closed' | 'refused';

/** Of no shard more than a look at whether it could hold anything. */
const NOTHING = JSON.stringify({ size: 0, track_total_hits: false, query: { match_none: {} } });
/** Closed ones are an error then, the first of them. */
const WITH_CLOSED = { expand_wildcards: 'open,closed' };
/** Names that are asked about one by one. */
const AT_A_TIME = 8;
/** Closed indices that are named where a pattern stands for them: each takes a request. */
const MOST_CLOSED = 5;

export class IndexStates {
  readonly #searches: Searches;

  constructor(searches: Searches) {
    this.#searches = searches;
  }

  /** Why not all of these can be searched; undefined when they can, or are not there. */
  async refusal(indices: string, call: Call): Promise<unknown> {
    // A name by itself has to be there; what a pattern stands for need not.
    const patterns = indices
      .split(',')
      .map((name) => (name.endsWith('*') || name.startsWith('-') ? name : `${name}*`))
      .join(',');
    return this.#refusal(patterns, WITH_CLOSED, call);
  }

  /** Of names, or of patterns that count as a whole. */
  async without(names: readonly string[], call: Call): Promise<Remaining> {
    const states = await inParallel(AT_A_TIME, names, (name) => this.#stateOf(name, call));
    const those = (state: State): string[] => names.filter((_, n) => states[n] === state);
    return {
      indices: those('searchable').join(','),
      refused: those('refused').map(decodeURIComponent),
      closed: those('closed').map(decodeURIComponent),
      areMoreClosed: false,
    };
  }

  /** Of patterns; undefined where the store does not tell what it refuses, or that is more than a request can name. */
  async excluding(patterns: string, call: Call): Promise<Remaining | undefined> {
    const refused: string[] = [];
    for (;;) {
      const indices = [patterns, ...refused.map((name) => `-${encodeURIComponent(name)}`)].join(',');
      if (indices.length > ROOM_WITH_EXCLUDED) return undefined;
      const refusal = await this.#refusal(indices, LENIENT, call);
      if (refusal === undefined) {
        return { indices, refused: refused.toSorted(), ...(await this.#closedIn(indices, call)) };
      }
      const name = refusedIndexIn(refusal)?.name;
      // One that is excluded already belongs to something that has another name.
      if (name === undefined || refused.includes(name)) return undefined;
      refused.push(name);
    }
  }

  async #closedIn(patterns: string, call: Call): Promise<Pick<Unsearchable, 'closed' | 'areMoreClosed'>> {
    const closed: string[] = [];
    for (;;) {
      const indices = [patterns, ...closed.map((name) => `-${encodeURIComponent(name)}`)].join(',');
      const refusal = await this.#refusal(indices, WITH_CLOSED, call);
      const index = refusedIndexIn(refusal);
      if (!index?.isClosed || closed.includes(index.name)) return { closed, areMoreClosed: false };
      const isNoRoom = closed.length === MOST_CLOSED || indices.length > ROOM_WITH_EXCLUDED;
      if (isNoRoom) return { closed, areMoreClosed: true };
      closed.push(index.name);
    }
  }

  async #stateOf(name: string, call: Call): Promise<State> {
    const refusal = await this.#refusal(name, {}, call);
    if (refusal === undefined) return 'searchable';
    return refusedIndexIn(refusal)?.isClosed ? 'closed' : 'refused';
  }

  async #refusal(indices: string, query: Readonly<Record<string, string>>, call: Call): Promise<unknown> {
    try {
      const path = `/${indices}/_search`;
      await this.#searches.ask({ method: 'POST', path, query, body: NOTHING }, call, () => undefined);
      return undefined;
    } catch (error) {
      if (isSearchRefused(error)) return error;
      // No node holds any of them at the moment: of that the search itself tells.
      if (error instanceof StatusError && error.code === 503) return undefined;
      throw error;
    }
  }
}
