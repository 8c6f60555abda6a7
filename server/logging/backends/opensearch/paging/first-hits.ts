// The first records of a query in the order of time, and how many there are in all. A store that is asked for both at
// once puts every line in order that it counts, a million for a page of ten. So a question that turns out to be broad
// is put in two: how many there are, which the index knows, and which are the first, sought where the order begins.
import { hash } from 'node:crypto';
import { ExpiringMap } from '../../../../memory/expiring-map.ts';
import type { Deadline } from '../../../deadline.ts';
import type { Order } from '../../../log-store.ts';
import type { SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import { type HitsAsked, HitsSearch, type Width } from './hits-search.ts';

const REMEMBERED = { most: 256, ttlMs: 60_000 };
const NO_RANGE = { start: '', end: '' };

export class FirstHits {
  readonly #searches: Searches;
  /**
   * By kind of question, what was needed the last time: pages follow one another, and consoles repeat their questions.
   * Only a hint: what is found with it is checked like anything else.
   */
  readonly #widths: ExpiringMap<string, Width>;

  /** `now` is a monotonic clock in ms. */
  constructor(searches: Searches, now: () => number) {
    this.#searches = searches;
    this.#widths = new ExpiringMap({ ...REMEMBERED, now });
  }

  /** The total, where it is counted, is that of all, wherever the position is. */
  async find(selected: SelectionQuery, asked: HitsAsked, deadline: Deadline): Promise<SearchAnswer> {
    const search = new HitsSearch(this.#searches, selected, asked, deadline);
    const kind = kindOf(selected, asked.order, asked.position === undefined);
    const known = this.#widths.get(kind);
    const quick = known && (await search.within(known));
    if (quick) return quick;
    this.#widths.delete(kind);
    const { answer, days } = await search.atOnce(known);
    if (!answer.endedEarly) {
      const enough = days ?? search.widthOf(answer);
      if (enough) this.#widths.set(kind, enough);
      return answer;
    }
    const { found, width } = await search.inTwo(asked.counted ? undefined : answer);
    if (width) this.#widths.set(kind, width);
    return found;
  }
}

/** The same question, whatever its range. */
function kindOf(selected: SelectionQuery, order: Order, isFirst: boolean): string {
  const asked = JSON.stringify([selected.within(NO_RANGE), order, isFirst]);
  return hash('sha256', asked, 'base64');
}
