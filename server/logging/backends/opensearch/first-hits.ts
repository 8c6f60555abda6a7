// The first records of a query in the order of time, and how many there are in all. A store that is asked for both at
// once puts every line in order that it counts, a million for a page of ten. So a question that turns out to be broad
// is put in two: how many there are, which the index knows, and which are the first, sought in ever wider windows.
import { earlier, instantOf, later, millisecondsOf } from '../../instant.ts';
import type { Call, Order, Selection } from '../../log-store.ts';
import { pageBody, repeated } from './page-reader.ts';
import { type Position, searchAfter } from './position.ts';
import type { SearchAnswer } from './search-answer.ts';
import type { SearchBody, Searches } from './searches.ts';
import type { SelectionQuery } from './selection-query.ts';
import { distinct } from './sums.ts';

type Range = Selection['range'];

export interface HitsAsked {
  readonly order: Order;
  /** Hits, beside those that were given of the position's key. */
  readonly size: number;
  readonly from: number;
  readonly position: Position | undefined;
}

/** Lines that a shard puts in order before the question counts as broad. */
const BROAD = 20_000;
const FIRST_WINDOW_MS = { least: 1_000, most: 60_000 };
/** How many times the lines that are needed the first window should hold, and how much wider each is than the last. */
const MARGIN = 4;
const WIDER = 8;

/** The total is that of all, wherever the position is. `timed` gives each request what is left of the time. */
export async function firstHits(
  searches: Searches,
  selected: SelectionQuery,
  asked: HitsAsked,
  timed: () => Call,
): Promise<SearchAnswer> {
  const { indices, fields, query, range } = selected;
  const { order, from, position } = asked;
  const size = asked.size + repeated(position);
  const search = (part: Partial<SearchBody>, total: boolean): Promise<SearchAnswer> =>
    searches.searchIndices(
      indices,
      { ...pageBody({ query, order, size, from, total }, fields), ...part },
      timed(),
      position && searchAfter(position, order, fields.nanoseconds),
    );
  const answer = await search({ terminate_after: BROAD }, true);
  if (!answer.endedEarly) return answer;
  const counted = await searches.searchIndices(indices, { query, size: 0, track_total_hits: true }, timed());
  const reach = position ? ahead(range, order, position) : range;
  for (const window of windows(reach, order, (from + size) / Math.max(1, counted.total.count))) {
    const found = await search({ query: selected.within(window) }, false);
    if (found.hits.length >= size) return together(found, counted);
  }
  return together(await search({}, false), counted);
}

/** What can lie behind the position; a millisecond more, as some indices know no less. */
function ahead({ start, end }: Range, order: Order, { time }: Position): Range {
  const milliseconds = Number(time / 1_000_000n);
  return order === 'asc'
    ? { start: later(start, instantOf(milliseconds)), end }
    : { start, end: earlier(end, instantOf(milliseconds + 1)) };
}

/** Parts of the range from where the order begins, narrower than the range; `share` of it is needed, if all is even. */
export function* windows({ start, end }: Range, order: Order, share: number): Generator<Range> {
  const [first, last] = [millisecondsOf(start), millisecondsOf(end)];
  const { least, most } = FIRST_WINDOW_MS;
  const even = Math.ceil((last - first) * share * MARGIN);
  for (let width = Math.min(most, Math.max(least, even)); width < last - first; width *= WIDER) {
    yield order === 'asc'
      ? { start, end: instantOf(first + width) }
      : { start: instantOf(last - width), end };
  }
}

function together(found: SearchAnswer, counted: SearchAnswer): SearchAnswer {
  const { total } = counted;
  return { ...found, total, shortfalls: distinct([...counted.shortfalls, ...found.shortfalls]) };
}
