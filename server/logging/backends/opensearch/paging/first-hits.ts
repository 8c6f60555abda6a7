// The first records of a query in the order of time, and how many there are in all. A store that is asked for both at
// once puts every line in order that it counts, a million for a page of ten. So a question that turns out to be broad
// is put in two: how many there are, which the index knows, and which are the first, sought where the order begins.
import type { ExpiringMap } from '../../../../memory/expiring-map.ts';
import type { Deadline } from '../../../deadline.ts';
import type { SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import { type HitsAsked, HitsSearch } from './hits-search.ts';
import { kindOf, newKnownWidths, type Width } from './known-widths.ts';

export class FirstHits {
  readonly #searches: Searches;
  readonly #widths: ExpiringMap<string, Width>;

  /** `now` is a monotonic clock in ms. */
  constructor(searches: Searches, now: () => number) {
    this.#searches = searches;
    this.#widths = newKnownWidths(now);
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
