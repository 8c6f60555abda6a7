// The records of a point in time: pages, the next one fetched while the reader works on this one.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { pause } from '../../../../concurrency/pause.ts';
import type { Deadline } from '../../../deadline.ts';
import { fewerWhenTooMuch } from '../../../fewer-lines.ts';
import type { Call, LogRecord, Order } from '../../../log-store.ts';
import { isSearchRefused } from '../../../store-errors.ts';
import { areNoPointsLeft } from '../connection/known-refusals.ts';
import { areAllShardsAway } from '../connection/refusal.ts';
import { pageBody } from '../paging/page-body.ts';
import type { ByteRange, LongAnswer } from '../searches/long-answer.ts';
import { isLostPoint, type PointInTime, type PointsInTime } from '../searches/point-in-time.ts';
import { type Position, searchAfter } from '../searches/position.ts';
import type { SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import { positionBehind, repeated, unseen } from '../searches/sort-keys.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';

export interface ExportOptions {
  readonly searches: Searches;
  readonly points: PointsInTime;
  /** Records of one page, at most. */
  readonly pageSize: number;
  /** Milliseconds for one page. */
  readonly pageMs: number;
}

/** The first page is small, since the length of lines is unknown; later pages have about this many bytes. */
const FIRST_PAGE = 500;
const PAGE_BYTES = 512 << 10;
const SMALLEST_PAGE = 20;
/** How many times more lines a page may have than one that was asked for anew with fewer. */
const GROWTH = 2;
/** The time for one page; an export may take long, but not because a store hangs. */
export const PAGE_MS = 60_000;

interface Page {
  readonly answer: LongAnswer;
  /** Behind which its records are; some of its first may have been given before. */
  readonly behind: Position | undefined;
  readonly next: { readonly position: Position; readonly size: number } | undefined;
  readonly shortfalls: readonly Shortfall[];
}

/** Where the next page begins, and how many records it may have. */
export interface ExportPlace {
  readonly position: Position | undefined;
  readonly size: number;
}

/** A slice, or what is left of it. */
export interface ExportPart {
  readonly selected: SelectionQuery;
  readonly begin?: ExportPlace | undefined;
  /** How long to wait, each time, for shards that are away when it goes on; of one that begins they are missing. */
  readonly pausesMs?: readonly number[];
}

export interface PointReading {
  readonly order: Order;
  readonly deadline: Deadline;
  /** By message: what is known to be missing, to which more is added. */
  readonly shortfalls: Map<string, Shortfall>;
}

/**
 * What one point in time gives. Returns where another one has to begin when it was lost; the first page of one that goes
 * on is taken as it is, so that each makes some way.
 */
export async function* exportPoint(
  options: ExportOptions,
  { selected, begin, pausesMs = [] }: ExportPart,
  { order, deadline, shortfalls }: PointReading,
): AsyncGenerator<readonly LogRecord[], ExportPlace | undefined, undefined> {
  const ended = new AbortController();
  const reading = deadline.until(ended.signal);
  const { searches, pageMs } = options;
  const pageCall = (): Call => reading.within(pageMs).call();
  add(shortfalls, selected.shortfalls);
  const point = await openPoint(options, selected, { pausesMs, shortfalls }, pageCall);
  if (!point) return undefined;
  add(shortfalls, point.shortfalls);
  const fetch = async ({ position, size }: ExportPlace): Promise<Page> => {
    const { answer: page, asked } = await fewerWhenTooMuch(
      size,
      (size) => fetchPage(options, selected, { order, point, position, size }, pageCall()),
      reading.signal,
    );
    // What was too much a moment ago may be so still.
    if (!page.next || asked === size) return page;
    return { ...page, next: { ...page.next, size: Math.min(page.next.size, asked * GROWTH) } };
  };
  let place = begin ?? { position: undefined, size: Math.min(FIRST_PAGE, options.pageSize) };
  let next: Promise<Page> | undefined;
  let isFirst = begin !== undefined;
  try {
    next = fetch(place);
    while (next) {
      const page: Page | undefined = await (isFirst ? next : unlessLost(next));
      if (!page || (!isFirst && areNewlyAway(page.shortfalls, shortfalls))) return place;
      isFirst = false;
      add(shortfalls, page.shortfalls);
      if (page.next) place = page.next;
      next = page.next && fetch(page.next);
      // Awaited in the next round; until then nobody handles its failure.
      next?.catch(() => undefined);
      for (const part of page.answer.parts) {
        deadline.signal.throwIfAborted();
        const records = await recordsIn(searches, page, part, selected);
        if (records.length > 0) yield records;
      }
      page.answer.free();
    }
    return undefined;
  } finally {
    ended.abort();
    // A search that is still running would open the point in time again.
    await next?.catch(() => undefined);
    await point.close();
  }
}

/** Waits for shards that were there a moment ago. */
async function openPoint(
  { points }: ExportOptions,
  { indices }: SelectionQuery,
  { pausesMs, shortfalls }: Pick<PointReading, 'shortfalls'> & { readonly pausesMs: readonly number[] },
  pageCall: () => Call,
): Promise<PointInTime | undefined> {
  for (const ms of pausesMs) {
    const point = await points.open(indices, pageCall()).catch(ifAway);
    if (point && !areNewlyAway(point.shortfalls, shortfalls)) return point;
    await point?.close();
    await pause(ms, pageCall().signal);
  }
  return points.open(indices, pageCall());
}

function add(shortfalls: Map<string, Shortfall>, more: readonly Shortfall[]): void {
  for (const shortfall of more) shortfalls.set(shortfall.message, shortfall);
}

function areNewlyAway(given: readonly Shortfall[], known: ReadonlyMap<string, Shortfall>): boolean {
  return given.some(({ reason, message }) => reason === 'ShardFailed' && !known.has(message));
}

function unlessLost(page: Promise<Page>): Promise<Page | undefined> {
  return page.catch(ifAway);
}

/** The point in time, an index, all of the shards, or the room for another point. */
function ifAway(error: unknown): undefined {
  const mayComeBack = [isLostPoint, isSearchRefused, areAllShardsAway, areNoPointsLeft];
  if (!mayComeBack.some((isSo) => isSo(error))) throw error;
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
  const again = repeated(position);
  // An index may allow no more than that, what is read again included.
  const asked = Math.min(size, Math.max(1, pageSize - again)) + again;
  const body = pageBody({ query, order, size: asked, total: false }, fields);
  const answer = await point.searchMany(
    body,
    call,
    position && searchAfter(position, order, fields.nanoseconds),
  );
  const { pointInTime, ...end } = await atEndOf(searches, answer, (end) => {
    const count = answer.count ?? end.hits.length;
    const last = unseen(end, position).at(-1);
    const isMore = last !== undefined && count >= asked;
    return {
      pointInTime: end.pointInTime,
      shortfalls: end.shortfalls,
      next: isMore
        ? {
            position: positionBehind(end, last.at, fields.nanoseconds, position),
            size: sizeFor(answer.length / count, pageSize),
          }
        : undefined,
    };
  });
  point.renew(pointInTime);
  return { answer, behind: position, ...end };
}

/**
 * What `told` tells of so many of the last hits that all with the sort key of the last one are among them. Not the hits
 * themselves: who has waited for them would keep them, with their text, until the page has been read.
 */
async function atEndOf<T>(
  searches: Searches,
  answer: LongAnswer,
  told: (end: SearchAnswer) => T,
): Promise<T> {
  for (let parts = 1; ; parts++) {
    const [first, last] = [answer.parts.at(-parts), answer.parts.at(-1)];
    if (!first || !last) throw new Error('an answer has no parts');
    const read = await searches.read(answer, { begin: first.begin, end: last.end });
    const [begin, end] = [read.hits[0], read.hits.at(-1)];
    if (parts === answer.parts.length || begin?.time !== end?.time || begin?.sequence !== end?.sequence)
      return told(read);
  }
}

/** Not in the generator, which would keep the text and the hits as long as its reader works on the records. */
async function recordsIn(
  searches: Searches,
  { answer, behind }: Page,
  part: ByteRange,
  { fields }: SelectionQuery,
): Promise<readonly LogRecord[]> {
  const read = await searches.read(answer, part);
  return unseen(read, behind).map(({ hit }) => fields.records.read(hit));
}

function sizeFor(bytesOfEach: number, most: number): number {
  return Math.min(most, Math.max(SMALLEST_PAGE, Math.floor(PAGE_BYTES / bytesOfEach)));
}
