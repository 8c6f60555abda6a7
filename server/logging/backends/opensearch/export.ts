// All records of a selection: pages over a point in time, the next one fetched while the reader works on this one.

import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Call, Coverage, LogRecord, Order } from '../../log-store.ts';
import { pageBody, repeated, unseen } from './page-reader.ts';
import { KEEP_ALIVE, lostPoint, type PointInTime, type PointsInTime } from './point-in-time.ts';
import { type Position, searchAfter } from './position.ts';
import { positionBehind, recordOf, type SearchAnswer } from './search-answer.ts';
import type { Searches } from './searches.ts';
import type { SelectionQuery } from './selection-query.ts';

export interface ExportOptions {
  readonly searches: Searches;
  readonly points: PointsInTime;
  /** Records of one page, at most. */
  readonly pageSize: number;
  /** A monotonic clock in ms. */
  readonly now: () => number;
}

/** The first page is small, for nobody knows how long the lines are; from then on pages have about this many bytes. */
const FIRST_PAGE = 500;
const PAGE_BYTES = 1 << 20;
const SMALLEST_PAGE = 20;
/** What one page may take; an export may take long, but not because a store hangs. */
export const PAGE_MS = 60_000;

interface Page {
  readonly records: readonly LogRecord[];
  readonly position: Position | undefined;
  readonly shortfalls: readonly Shortfall[];
  readonly nextSize: number;
}

export async function* exportRecords(
  options: ExportOptions,
  selected: SelectionQuery,
  order: Order,
  call: Call,
): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
  const deadline = options.now() + call.timeoutMs;
  const ended = new AbortController();
  const signal = AbortSignal.any([call.signal, ended.signal]);
  const shortfalls = new Map(selected.shortfalls.map((shortfall) => [shortfall.message, shortfall]));
  const pageCall = (): Call => ({ signal, timeoutMs: Math.min(PAGE_MS, deadline - options.now()) });
  const point = await options.points.open(selected.indices, pageCall());
  if (!point) return { shortfalls: selected.shortfalls };
  const fetch = (position: Position | undefined, size: number) =>
    fetchPage(options, selected, { order, point, position, size }, pageCall());
  let next: Promise<Page> | undefined;
  try {
    next = fetch(undefined, Math.min(FIRST_PAGE, options.pageSize));
    while (next) {
      const page: Page = await next;
      for (const shortfall of page.shortfalls) shortfalls.set(shortfall.message, shortfall);
      next = page.position && fetch(page.position, page.nextSize);
      // Awaited in the next round; until then nobody listens to it.
      next?.catch(() => undefined);
      if (page.records.length > 0) yield page.records;
    }
    return { shortfalls: [...shortfalls.values()] };
  } finally {
    ended.abort();
    // A search that still runs would open the point in time anew.
    await next?.catch(() => undefined);
    await point.close();
  }
}

interface PageFetch {
  readonly order: Order;
  readonly point: PointInTime;
  readonly position: Position | undefined;
  readonly size: number;
}

async function fetchPage(
  { searches, pageSize }: ExportOptions,
  { fields, query }: SelectionQuery,
  { order, point, position, size }: PageFetch,
  call: Call,
): Promise<Page> {
  const asked = size + repeated(position);
  const body = pageBody({ query, order, size: asked, total: false }, fields);
  const answer = await searches.search(
    undefined,
    { ...body, pit: { id: point.id, keep_alive: KEEP_ALIVE } },
    call,
    position && searchAfter(position, order, fields.nanoseconds),
  );
  if (!answer) throw lostPoint();
  point.renew(answer.pointInTime);
  const hits = unseen(answer, position);
  const last = hits.at(-1);
  return {
    records: hits.map(({ hit }) => recordOf(hit, fields.names, fields.nanoseconds)),
    position:
      last && answer.hits.length >= asked
        ? positionBehind(answer, last.at, fields.nanoseconds, position)
        : undefined,
    shortfalls: answer.shortfalls,
    nextSize: sizeFor(answer, pageSize),
  };
}

function sizeFor({ text, hits }: SearchAnswer, most: number): number {
  const each = Math.max(1, text.length / Math.max(1, hits.length));
  return Math.min(most, Math.max(SMALLEST_PAGE, Math.floor(PAGE_BYTES / each)));
}
