import { isServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import type { Deadline } from '../../../deadline.ts';
import type { Order, Selection } from '../../../log-store.ts';
import { isSearchRefused, isStoreExhausted } from '../../../store-errors.ts';
import { loadIn } from '../connection/refusal.ts';
import type { Clause } from '../searches/clause.ts';
import { endingTogether } from '../searches/ending-together.ts';
import { type Position, searchAfter } from '../searches/position.ts';
import type { SearchAnswer } from '../searches/search-answer.ts';
import type { SearchBody, SearchCall, Searches } from '../searches/searches.ts';
import { repeated, timesOf } from '../searches/sort-keys.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import { nearPart } from './near-part.ts';
import { pageBody } from './page-body.ts';
import { Reach } from './reach.ts';

type Range = Selection['range'];

/** How much of its range a broad question needed. */
export interface Width {
  readonly ms: number;
  /** Lines that were in it. */
  readonly lines: number;
}

export interface HitsAsked {
  readonly order: Order;
  /** Hits, beside those that were given of the position's key. */
  readonly size: number;
  readonly from: number;
  readonly position: Position | undefined;
  /** Whether the total has to be that of all; else any that is no more will do. */
  readonly counted: boolean;
}

/** Lines that a shard puts in order before the question counts as broad. */
const BROAD = 20_000;
/** How much of the range is tried first: what should hold some times the lines that are needed, if all is even. */
const FIRST_MS = { least: 1_000, most: 60_000 };
const MARGIN = 4;
const DAY_MS = 86_400_000;
/** How many times more days are asked next where some hold too little. */
const DAYS_WIDER = 8;
/** All are asked where they are not so many times as many. */
const CLOSE = 2;

/** One question, put in one of three ways: with what is known of its like, all at once, or in two. */
export class HitsSearch {
  readonly #searches: Searches;
  readonly #selected: SelectionQuery;
  readonly #asked: HitsAsked;
  readonly #deadline: Deadline;
  /** Hits to be answered, and lines that have to be there for that. */
  readonly #size: number;
  readonly #needed: number;
  readonly #reach: Reach;

  constructor(searches: Searches, selected: SelectionQuery, asked: HitsAsked, deadline: Deadline) {
    this.#searches = searches;
    this.#selected = selected;
    this.#asked = asked;
    this.#deadline = deadline;
    this.#size = asked.size + repeated(asked.position);
    this.#needed = this.#size + asked.from;
    this.#reach = new Reach(selected.range, asked.order, asked.position);
  }

  /**
   * All at once; it ended early where the question is broad, and is worth nothing then. Where nothing is counted and
   * there are many indices, those of the first days alone, as long as they hold enough.
   */
  async atOnce(tooNarrow: Width | undefined): Promise<{ answer: SearchAnswer; days?: Width }> {
    const whole = this.#reach.lengthMs;
    for (let ms = DAY_MS; !this.#asked.counted && ms * CLOSE < whole; ms *= DAYS_WIDER) {
      if (ms <= (tooNarrow?.ms ?? 0)) continue;
      const range = this.#reach.first(ms);
      if (this.#indicesWithin(range) === this.#selected.indices) break;
      const answer = await this.#search({ terminate_after: BROAD }, range);
      if (answer.endedEarly) return { answer };
      if (answer.hits.length >= this.#size) {
        return { answer: atLeast(answer), days: { ms, lines: answer.total.count } };
      }
    }
    return { answer: await this.#search({ terminate_after: BROAD }, this.#selected.range) };
  }

  /**
   * What holds as many lines, and some more, where the answer has only few of many that are spread over indices: each
   * shard has put its own in order.
   */
  widthOf(answer: SearchAnswer): Width | undefined {
    const last = timesOf(answer, this.#selected.fields.nanoseconds).at(-1);
    if (last === undefined || answer.hits.length < this.#size) return undefined;
    // To count them, all indices are asked anyway.
    if (this.#asked.counted && answer.total.count < BROAD) return undefined;
    const ms = Math.max(FIRST_MS.least, this.#reach.distanceTo(last) * 2);
    const isPart = this.#indicesWithin(this.#reach.first(ms)) !== this.#selected.indices;
    return isPart ? { ms, lines: BROAD } : undefined;
  }

  /** With what was enough the last time; undefined when it is not, or has become much more. */
  async within(width: Width): Promise<SearchAnswer | undefined> {
    if (this.#asked.counted) return this.#withinAndCounted(width);
    const found = await this.#near(width.ms);
    return this.#isApt(found, width) ? atLeast(found) : undefined;
  }

  async #withinAndCounted(width: Width): Promise<SearchAnswer | undefined> {
    const [counted, found] = await endingTogether(this.#deadline.call(), (call) => {
      const beside = this.#count(this.#selected.range, call);
      return Promise.all([beside, this.#near(width.ms, { ...call, beside })]);
    });
    return this.#isApt(found, width) ? together(found, counted) : undefined;
  }

  #isApt({ hits, total }: SearchAnswer, { lines }: Width): boolean {
    return hits.length >= this.#size && total.count <= 2 * Math.max(BROAD, lines);
  }

  /** `begun`: what ended early, where its total will do. */
  async inTwo(begun?: SearchAnswer): Promise<{ found: SearchAnswer; width: Width | undefined }> {
    const counted = begun ? atLeast(begun) : await this.#count(this.#selected.range);
    const whole = this.#reach.lengthMs;
    const even = Math.ceil((whole * this.#needed * MARGIN) / Math.max(1, counted.total.count));
    const ms = await nearPart({
      whole,
      first: Math.min(FIRST_MS.most, Math.max(FIRST_MS.least, even)),
      needed: this.#needed,
      many: BROAD,
      count: async (width) => {
        const { total, shortfalls } = await this.#count(this.#reach.first(width));
        return shortfalls.some(({ reason }) => reason === 'Timeout') ? undefined : total.count;
      },
    });
    const near = ms === undefined ? undefined : await this.#near(ms);
    // Lines may have been deleted meanwhile.
    if (ms !== undefined && near && near.hits.length >= this.#size) {
      return { found: together(near, counted), width: { ms, lines: near.total.count } };
    }
    // What lies before the position need not be put in order.
    const found = await this.#search({}, this.#reach.range);
    return { found: together(found, counted), width: undefined };
  }

  #near(ms: number, call: SearchCall = this.#deadline.call()): Promise<SearchAnswer> {
    return this.#search({}, this.#reach.first(ms), call);
  }

  #search(rest: SearchBody, range: Range, call: SearchCall = this.#deadline.call()): Promise<SearchAnswer> {
    const { fields } = this.#selected;
    const { order, from, position } = this.#asked;
    const query = this.#queryOf(range);
    return this.#ask(
      range,
      { ...pageBody({ query, order, size: this.#size, from, total: true }, fields), ...rest },
      call,
      position && searchAfter(position, order, fields.nanoseconds),
    );
  }

  #count(range: Range, call: SearchCall = this.#deadline.call()): Promise<SearchAnswer> {
    return this.#ask(range, { query: this.#queryOf(range), size: 0, track_total_hits: true }, call);
  }

  async #ask(range: Range, body: SearchBody, call: SearchCall, after?: string): Promise<SearchAnswer> {
    const { indices } = this.#selected;
    const some = this.#indicesWithin(range);
    try {
      return await this.#searches.searchUnchanged(some, body, call, after);
    } catch (error) {
      // No node may hold any of these at the moment, while others have an answer that says so.
      const isAway = isServiceUnavailable(error) && !isSearchRefused(error) && !isLoaded(error);
      if (some === indices || !isAway) throw error;
      const again = { ...call, timeoutMs: this.#deadline.leftMs };
      return this.#searches.searchUnchanged(indices, body, again, after);
    }
  }

  #indicesWithin(range: Range): string {
    const { indices, indicesWithin, range: all } = this.#selected;
    return range === all ? indices : indicesWithin(range);
  }

  #queryOf(range: Range): Clause {
    return range === this.#selected.range ? this.#selected.query : this.#selected.within(range);
  }
}

/** More of a store that has too much to do would be no help. */
function isLoaded(error: unknown): boolean {
  return isStoreExhausted(error) || loadIn(error) !== undefined;
}

/** There may be more than were counted. */
function atLeast(found: SearchAnswer): SearchAnswer {
  return { ...found, total: { count: found.total.count, relation: 'gte' } };
}

function together(found: SearchAnswer, { total, shortfalls }: SearchAnswer): SearchAnswer {
  // What is missing of a part is so of the whole, in other numbers.
  const told = new Set(shortfalls.map(({ reason }) => reason));
  const others = found.shortfalls.filter(({ reason }) => !told.has(reason));
  return { ...found, total, shortfalls: [...shortfalls, ...others] };
}
