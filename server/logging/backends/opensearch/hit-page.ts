// Reads one page of records from OpenSearch or Elasticsearch, sorted by time. No state is kept between pages.
import { hash } from 'node:crypto';
import { earlier, instantOf, later, millisecondsOf, millisecondsOfNanoseconds } from '../../store/instant.ts';
import type { Deadline, LogPage, Order, PageRequest, Selection, Total } from '../../store/log-store.ts';
import { LINES_TRUNCATED } from '../../store/page-limit.ts';
import { newForeignCursor } from '../../store/store-errors.ts';
import { STORE } from './error-response.ts';
import type { SearchBody, SearchClient } from './search-client.ts';
import type { Hit, RecordReader } from './search-hit.ts';
import type { SearchResponse } from './search-response.ts';
import { countingQueryOf, isTimeRange, queryOf, type SelectionQuery } from './selection-query.ts';

type Range = Selection['range'];

/** Default of `index.max_result_window`: the maximum of `from` + `size`. */
const RESULT_WINDOW = 10_000;
/** Maximum matches in a shard that are counted and sorted in one search (`terminate_after`). */
const BROAD = 10_000;
/** Minimum length of the first part of the range that is sorted, in ms, and the factor to the next part. */
const SHORTEST_PART_MS = 1_000;
const PART_GROWTH = 8;
/** Expected lines in the first part of the range, if lines are spread evenly, as a multiple of the page. */
const MARGIN = 4;

/**
 * Position of the last record of a page: its sort key (time and sequence number), and digests of the returned records
 * with that key. Records of different shards can have equal keys, so the next page reads the key again and skips the
 * digests.
 */
export interface Position {
  /** Nanoseconds since the epoch. */
  readonly time: bigint;
  /** `_seq_no` of the document in its shard. */
  readonly sequence: number;
  /** Digests of the returned records with this key. */
  readonly returned: readonly string[];
}

const MAX_RETURNED = 200;
const DIGEST_LENGTH = 11;
/** Largest sort key of the store: 64 bits. The store fails for a larger one. */
const MAX_KEY = 2n ** 63n - 1n;

interface PageReading {
  readonly client: SearchClient;
  readonly records: RecordReader;
  readonly selected: SelectionQuery;
  readonly deadline: Deadline;
}

export async function readPage(reading: PageReading, page: PageRequest): Promise<LogPage> {
  const { selected, records } = reading;
  const { order, size, from, uncounted = false } = page;
  // With `size=0`, only the total is needed, without the position.
  const position = page.after === undefined || size === 0 ? undefined : readPosition(page.after);
  // Requests one more record, to find out whether there is a next page, except at the end of the result window.
  const wanted = size === 0 ? 0 : Math.min(size + 1, Math.max(size, RESULT_WINDOW - from));
  const request = { order, from, position, size: wanted + repeatedHits(position) };
  const first = await firstHits(reading, request, !uncounted);
  const { total } = first;
  const found = newHits(first.hits, position);
  const hits = found.slice(0, size);
  const isMore =
    found.length > size ||
    (wanted === size && hits.length === size && (total.relation === 'gte' || total.count > from + size));
  const last = isMore ? hits.at(-1) : undefined;
  const shortfalls = [...selected.shortfalls, ...first.shortfalls];
  return {
    total: shortfalls.length === 0 ? total : { ...total, relation: 'gte' },
    shortfalls: hits.some(({ isTruncated }) => isTruncated) ? [...shortfalls, LINES_TRUNCATED] : shortfalls,
    records: hits.map((hit) => records.read(hit)),
    next: last && writePosition(positionBehind(first.hits, last, position)),
  };
}

interface HitRequest {
  readonly order: Order;
  readonly from: number;
  readonly size: number;
  readonly position: Position | undefined;
}

type FirstHits = Pick<SearchResponse, 'hits' | 'total' | 'shortfalls'>;
type Counted = Pick<SearchResponse, 'total' | 'shortfalls'>;

/**
 * Searches the first hits of a page. A search that counts and sorts has to sort all matches. So if there are many
 * matches, they are counted by one search, and sorted by another search over a part of the range that is long enough
 * for the page.
 */
async function firstHits(reading: PageReading, request: HitRequest, isCounted: boolean): Promise<FirstHits> {
  const { client, selected, deadline } = reading;
  const { size, from, position } = request;
  const body = { ...sortedSearch(selected, request), ...(from === 0 ? {} : { from }) };
  const count = (): Promise<SearchResponse> =>
    client.search(
      selected.indices,
      { query: countingQueryOf(selected), size: 0, track_total_hits: true },
      deadline.call(),
    );
  // The store counts a time range without reading documents, which is cheaper than the search that stops early.
  if (isCounted && size > 0 && !position && isTimeRange(selected)) {
    const counted = await count();
    if (counted.total.count > BROAD) return firstOfMany(reading, request, body, counted);
  }
  const bounded = { ...body, track_total_hits: true, ...(size === 0 ? {} : { terminate_after: BROAD }) };
  const first = await search(reading, bounded, request);
  if (size === 0 || !first.isTerminatedEarly) return first;
  const atLeast: Total = { count: first.total.count, relation: 'gte' };
  return firstOfMany(reading, request, body, isCounted ? await count() : { total: atLeast, shortfalls: [] });
}

async function firstOfMany(
  reading: PageReading,
  request: HitRequest,
  body: SearchBody,
  { total, shortfalls: missing }: Counted,
): Promise<FirstHits> {
  const { selected } = reading;
  const { order, size, from, position } = request;
  const withTotal = ({ hits, shortfalls }: SearchResponse): FirstHits => ({
    hits,
    total,
    // Not both lists: they report the same shards with different numbers.
    shortfalls: missing.length > 0 ? missing : shortfalls,
  });
  const range = position ? rangeFrom(position, selected.range, order) : selected.range;
  const lengthMs = millisecondsOf(range.end) - millisecondsOf(range.start);
  const even = (lengthMs * (size + from) * MARGIN) / Math.max(1, total.count);
  for (let ms = Math.max(SHORTEST_PART_MS, Math.ceil(even)); ms < lengthMs; ms *= PART_GROWTH) {
    const part = { ...body, query: queryOf(selected, partOf(range, order, ms)) };
    const found = await search(reading, part, request);
    const isLate = found.shortfalls.some(({ reason }) => reason === 'Timeout');
    if (found.hits.length >= size || isLate) return withTotal(found);
  }
  return withTotal(await search(reading, { ...body, query: queryOf(selected, range) }, request));
}

/** The part of the range after the position, rounded to the millisecond that some indices have as precision. */
function rangeFrom({ time }: Position, { start, end }: Range, order: Order): Range {
  const milliseconds = millisecondsOfNanoseconds(time);
  return order === 'asc'
    ? { start: later(start, instantOf(milliseconds)), end }
    : { start, end: earlier(end, instantOf(milliseconds + 1)) };
}

/** The first `ms` of the range in the requested order. */
function partOf({ start, end }: Range, order: Order, ms: number): Range {
  return order === 'asc'
    ? { start, end: earlier(end, instantOf(millisecondsOf(start) + ms)) }
    : { start: later(start, instantOf(millisecondsOf(end) - ms)), end };
}

function search(
  { client, selected, deadline }: PageReading,
  body: SearchBody,
  { order, position }: HitRequest,
): Promise<SearchResponse> {
  const { indices } = selected;
  const after = position && searchAfter(position, order, indices.nanoseconds);
  return client.search(indices, body, deadline.call(), { after });
}

/** Body of a search for records sorted by time. */
export function sortedSearch(
  selected: SelectionQuery,
  { order, size }: { readonly order: Order; readonly size: number },
): SearchBody {
  const { time, message, namespace, pod, container } = selected.names;
  return {
    query: queryOf(selected),
    size,
    track_total_hits: false,
    _source: [...new Set([time, message, namespace, pod, container])],
    sort: [
      {
        [time]: selected.indices.nanoseconds
          ? // With `missing: _last`, OpenSearch skips shards by rounded times and so loses records of equal times.
            { order, numeric_type: 'date_nanos', unmapped_type: 'date_nanos', missing: '_first' }
          : { order, unmapped_type: 'date' },
      },
      { _seq_no: { order, unmapped_type: 'long' } },
    ],
  };
}

function writePosition({ time, sequence, returned }: Position): string {
  return [time, sequence, ...returned].join('.');
}

/** Parses the position of a cursor, which is untrusted. Throws BadRequest for an invalid one. */
function readPosition(text: string): Position {
  const [time = '', sequence = '', ...returned] = text.split('.');
  const isWellFormed =
    // Nanoseconds of a key in milliseconds have up to six digits more than the key.
    /^-?\d{1,25}$/.test(time) &&
    /^\d{1,15}$/.test(sequence) &&
    returned.length <= MAX_RETURNED &&
    returned.every((digest) => /^[\w-]{11}$/.test(digest));
  if (!isWellFormed) throw newForeignCursor(STORE);
  return { time: BigInt(time), sequence: Number(sequence), returned };
}

/** JSON of `search_after`, such that records with the key of the position are included. */
export function searchAfter({ time, sequence }: Position, order: Order, nanoseconds: boolean): string {
  const exact = nanoseconds ? time : time / 1_000_000n;
  const key = exact > MAX_KEY ? MAX_KEY : exact < -MAX_KEY ? -MAX_KEY : exact;
  // Built as text, because the key can exceed the safe integers of JavaScript.
  return `[${key},${order === 'asc' ? sequence - 1 : sequence + 1}]`;
}

/** Maximum number of hits that were returned before. */
export function repeatedHits(position: Position | undefined): number {
  return position?.returned.length ?? 0;
}

/** Removes the hits that were returned before. */
export function newHits(hits: readonly Hit[], position: Position | undefined): readonly Hit[] {
  if (!position) return hits;
  const returned = new Set(position.returned);
  return hits.filter((hit) => hit.sequence !== position.sequence || !returned.has(digestOf(hit)));
}

/** The position after `last`, one of the hits of a search that started at the position `before`. */
export function positionBehind(hits: readonly Hit[], last: Hit, before: Position | undefined): Position {
  const { time, sequence } = last;
  const returned = hits
    .slice(0, hits.indexOf(last) + 1)
    .filter((hit) => hit.time === time && hit.sequence === sequence)
    .map(digestOf);
  const isSameKey = before?.time === time && before.sequence === sequence;
  return { time, sequence, returned: [...new Set([...(isSameKey ? before.returned : []), ...returned])] };
}

/** Digest of the document id, without the index: its name changes when it is cloned or shrunk. */
function digestOf({ id }: Hit): string {
  return hash('sha256', id, 'base64url').slice(0, DIGEST_LENGTH);
}
