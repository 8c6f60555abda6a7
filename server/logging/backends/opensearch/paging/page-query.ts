// One page of records, with the total of all.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { forget } from '../../../../memory/forgotten.ts';
import type { Deadline } from '../../../deadline.ts';
import type { LogPage, Order, PageRequest, Total } from '../../../log-store.ts';
import { type Position, readPosition, writePosition } from '../searches/position.ts';
import { forgetHits, type Hit, type SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import { positionBehind, unseenOrMoved } from '../searches/sort-keys.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import type { FirstHits } from './first-hits.ts';
import { pageBody, RESULT_WINDOW } from './page-body.ts';
import { distinct, sumOfTotals } from './sums.ts';

export interface PageSources {
  readonly searches: Searches;
  readonly firstHits: FirstHits;
}

interface Reading extends PageSources {
  /** At least one, in the order of the page. */
  readonly slices: readonly SelectionQuery[];
  readonly order: Order;
  readonly counted: boolean;
  readonly deadline: Deadline;
}

/** A hit, and where it was answered. */
interface Entry {
  readonly hit: Hit;
  readonly at: number;
  readonly answer: SearchAnswer;
  readonly slice: SelectionQuery;
}

/** `slices` ascend in time. */
export async function queryPage(
  sources: PageSources,
  slices: readonly SelectionQuery[],
  page: PageRequest,
  deadline: Deadline,
): Promise<LogPage> {
  const { order, size } = page;
  const reading = {
    ...sources,
    slices: order === 'asc' ? slices : slices.toReversed(),
    order,
    counted: page.uncounted !== true,
    deadline,
  };
  let position = page.after === undefined ? undefined : readPosition(page.after);
  let { from } = page;
  // One more than asked for tells whether there is a next page.
  let wanted = size === 0 ? 0 : size + 1;
  /** What was not searched on the way to the page. */
  let passed: readonly Shortfall[] = [];
  if (from + wanted > RESULT_WINDOW) {
    // For pages deeper than one search may go: finds the position behind the first part, then continues from there.
    const skipped = Math.min(from, RESULT_WINDOW);
    const { entry, shortfalls: missed } = await entryAt(reading, skipped - 1);
    passed = missed;
    if (entry) position = positionOf(entry, undefined);
    else wanted = 0;
    from -= skipped;
  }
  const { entries, total, shortfalls } = await firstEntries(reading, { wanted, from, position });
  const given = entries.slice(0, size);
  const last = entries.length > size ? given.at(-1) : undefined;
  const found = {
    total,
    // Without all of what lies before it, it may be another page than the one asked for.
    shortfalls: distinct([...passed, ...shortfalls]),
    records: given.map(({ hit, slice: { fields } }) => fields.records.read(hit)),
    next: last && writePosition(positionOf(last, position)),
  };
  for (const { answer } of entries) forgetHits(answer);
  forget(entries);
  return found;
}

interface Wanted {
  readonly wanted: number;
  readonly from: number;
  readonly position: Position | undefined;
}

/** At most a few more than are wanted; the total is that of all slices where it is counted. */
async function firstEntries(
  { searches, firstHits, slices, order, counted, deadline }: Reading,
  { wanted, from, position }: Wanted,
): Promise<{ entries: Entry[]; total: Total; shortfalls: Shortfall[] }> {
  // A store skips by itself in one search from the beginning, and only there.
  const skipped = slices.length === 1 && !position ? from : 0;
  const needed = wanted === 0 ? 0 : wanted + from - skipped;
  const entries: Entry[] = [];
  const totals: Total[] = [];
  const shortfalls: Shortfall[] = [];
  for (const slice of slices) {
    const { indices, query, fields } = slice;
    const size = needed - entries.length;
    if (size <= 0 && !counted) {
      totals.push({ count: 0, relation: 'gte' });
      break;
    }
    const answer =
      size > 0
        ? await firstHits.find(slice, { order, size, from: skipped, position, counted }, deadline)
        : await searches.searchUnchanged(
            indices,
            { query, size: 0, track_total_hits: true },
            deadline.call(),
          );
    const found = unseenOrMoved(answer, position, fields.nanoseconds);
    entries.push(...found.map(({ hit, at }) => ({ hit, at, answer, slice })));
    totals.push(answer.total);
    shortfalls.push(...slice.shortfalls, ...answer.shortfalls);
  }
  const total = sumOfTotals(totals);
  entries.splice(0, from - skipped);
  return {
    entries,
    total: shortfalls.length === 0 ? total : { ...total, relation: 'gte' },
    shortfalls: distinct(shortfalls),
  };
}

/** Without its source; undefined when there are fewer. */
async function entryAt(
  { searches, slices, order, deadline }: Reading,
  at: number,
): Promise<{ entry: Entry | undefined; shortfalls: Shortfall[] }> {
  const shortfalls: Shortfall[] = [];
  let passed = 0;
  for (const slice of slices) {
    const { indices, fields, query } = slice;
    const size = at + 1 - passed;
    const body = pageBody({ query, order, size, total: false }, fields);
    const answer = await searches.searchUnchanged(indices, { ...body, _source: false }, deadline.call());
    passed += answer.hits.length;
    shortfalls.push(...answer.shortfalls);
    const hit = passed > at ? answer.hits.at(-1) : undefined;
    if (hit) return { entry: { hit, at: answer.hits.length - 1, answer, slice }, shortfalls };
  }
  return { entry: undefined, shortfalls };
}

function positionOf({ answer, at, slice }: Entry, before: Position | undefined): Position {
  return positionBehind(answer, at, slice.fields.nanoseconds, before);
}
