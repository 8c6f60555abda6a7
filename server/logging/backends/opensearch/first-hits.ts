// The first records of a query in the order of time, and how many there are in all. A store that is asked for both at
// once puts every line in order that it counts, a million for a page of ten. So a question that turns out to be broad
// is put in two: how many there are, which the index knows, and which are the first, sought where
// the order begins.
import { earlier, instantOf, later, millisecondsOf } from '../../instant.ts';
import type { Call, Order, Selection } from '../../log-store.ts';
import type { Clause } from './clause.ts';
import { nearPart } from './near-part.ts';
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
/** How much of the range is tried first: what should hold some times the lines that are needed, if all is even. */
const FIRST_MS = { least: 1_000, most: 60_000 };
const MARGIN = 4;

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
  const count = (part: Clause): Promise<SearchAnswer> =>
    searches.searchIndices(indices, { query: part, size: 0, track_total_hits: true }, timed());
  const answer = await search({ terminate_after: BROAD }, true);
  if (!answer.endedEarly) return answer;
  const counted = await count(query);
  const reach = position ? ahead(range, order, position) : range;
  const whole = widthOf(reach);
  const needed = from + size;
  const even = Math.ceil((whole * needed * MARGIN) / Math.max(1, counted.total.count));
  const width = await nearPart({
    whole,
    first: Math.min(FIRST_MS.most, Math.max(FIRST_MS.least, even)),
    needed,
    many: BROAD,
    count: async (ms) => (await count(selected.within(partOf(reach, order, ms)))).total.count,
  });
  if (width !== undefined) {
    const found = await search({ query: selected.within(partOf(reach, order, width)) }, false);
    // Lines may have been deleted meanwhile.
    if (found.hits.length >= size) return together(found, counted);
  }
  return together(await search({}, false), counted);
}

/** What can lie at the position and behind it; a millisecond more, as some indices know no less. */
function ahead({ start, end }: Range, order: Order, { time }: Position): Range {
  const milliseconds = Number(time / 1_000_000n);
  return order === 'asc'
    ? { start: later(start, instantOf(milliseconds)), end }
    : { start, end: earlier(end, instantOf(milliseconds + 1)) };
}

/** In ms. */
function widthOf({ start, end }: Range): number {
  return millisecondsOf(end) - millisecondsOf(start);
}

/** So many ms of the range, from where the order begins. */
function partOf({ start, end }: Range, order: Order, width: number): Range {
  return order === 'asc'
    ? { start, end: instantOf(millisecondsOf(start) + width) }
    : { start: instantOf(millisecondsOf(end) - width), end };
}

function together(found: SearchAnswer, counted: SearchAnswer): SearchAnswer {
  const { total } = counted;
  return { ...found, total, shortfalls: distinct([...counted.shortfalls, ...found.shortfalls]) };
}
