// One page of records, with the total of all.
import type { Call, LogPage, PageRequest } from '../../log-store.ts';
import { pageBody, RESULT_WINDOW, repeated, unseen } from './page-reader.ts';
import { type Position, readPosition, searchAfter, writePosition } from './position.ts';
import { positionBehind, recordOf, type SearchAnswer } from './search-answer.ts';
import type { Searches } from './searches.ts';
import type { SelectionQuery } from './selection-query.ts';

/** Records that may share one sort key with the last one that is skipped. */
const TIES = 100;

export async function queryPage(
  searches: Searches,
  selected: SelectionQuery,
  page: PageRequest,
  call: Call,
): Promise<LogPage> {
  const { indices, fields, query, shortfalls } = selected;
  const { order, size } = page;
  if (size === 0) {
    const answer = await searches.searchIndices(indices, { query, size: 0, track_total_hits: true }, call);
    return { ...totalOf(answer, selected), records: [], next: undefined };
  }
  let position = page.after === undefined ? undefined : readPosition(page.after);
  let from = page.from;
  if (from + size + 1 > RESULT_WINDOW) {
    // Deeper than one search may go: the position behind the first part, then the rest from there.
    const skipped = Math.min(from, RESULT_WINDOW);
    const first = Math.max(0, skipped - TIES);
    const body = pageBody({ query, order, size: skipped - first, from: first, total: false }, fields);
    const answer = await searches.searchIndices(indices, { ...body, _source: false }, call);
    if (answer.hits.length > 0) {
      position = positionBehind(answer, answer.hits.length - 1, fields.nanoseconds, undefined);
    }
    from = answer.hits.length < skipped - first ? Number.POSITIVE_INFINITY : from - skipped;
  }
  const behind = from === Number.POSITIVE_INFINITY;
  // One more than asked for tells whether there is a next page.
  const wanted = behind ? 0 : size + 1 + repeated(position) + (position ? from : 0);
  const answer = await searches.searchIndices(
    indices,
    pageBody({ query, order, size: wanted, from: position ? 0 : behind ? 0 : from, total: true }, fields),
    call,
    position && searchAfter(position, order, fields.nanoseconds),
  );
  const hits = unseen(answer, position).slice(position && !behind ? from : 0);
  const given = hits.slice(0, size);
  const last = hits.length > size ? given.at(-1) : undefined;
  return {
    ...totalOf(answer, { shortfalls }),
    records: given.map(({ hit }) => recordOf(hit, fields.names, fields.nanoseconds)),
    next: last && writePosition(nextPosition(answer, last.at, fields.nanoseconds, position)),
  };
}

function nextPosition(answer: SearchAnswer, at: number, nanoseconds: boolean, before: Position | undefined) {
  return positionBehind(answer, at, nanoseconds, before);
}

function totalOf(answer: SearchAnswer, { shortfalls }: Pick<SelectionQuery, 'shortfalls'>) {
  const all = [...shortfalls, ...answer.shortfalls];
  const { count, relation } = answer.total;
  return { total: { count, relation: all.length === 0 ? relation : ('gte' as const) }, shortfalls: all };
}
