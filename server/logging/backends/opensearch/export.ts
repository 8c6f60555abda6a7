// All records of a selection: pages over a point in time, the next one fetched while the reader works on this one.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Deadline } from '../../deadline.ts';
import { fewerWhenTooMuch } from '../../fewer-lines.ts';
import type { Call, Coverage, LogRecord, Order } from '../../log-store.ts';
import { pageBody, repeated, unseen } from './paging/page-reader.ts';
import type { ByteRange, LongAnswer } from './requests/long-answer.ts';
import { KEEP_ALIVE, lostPoint, type PointInTime, type PointsInTime } from './requests/point-in-time.ts';
import { type Position, searchAfter } from './requests/position.ts';
import { positionBehind, type SearchAnswer } from './requests/search-answer.ts';
import type { Searches } from './requests/searches.ts';
import type { SelectionQuery } from './selection/selection-query.ts';

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

export async function* exportRecords(
  options: ExportOptions,
  selected: SelectionQuery,
  order: Order,
  deadline: Deadline,
): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
  const ended = new AbortController();
  const reading = deadline.until(ended.signal);
  const { searches, pageMs } = options;
  const pageCall = (): Call => reading.within(pageMs).call();
  const point = await options.points.open(selected.indices, pageCall());
  if (!point) return { shortfalls: selected.shortfalls };
  const known = [...selected.shortfalls, ...point.shortfalls];
  const shortfalls = new Map(known.map((shortfall) => [shortfall.message, shortfall]));
  const fetch = async (position: Position | undefined, size: number): Promise<Page> => {
    const { answer: page, asked } = await fewerWhenTooMuch(
      size,
      (size) => fetchPage(options, selected, { order, point, position, size }, pageCall()),
      reading.signal,
    );
    // What was too much a moment ago may be so still.
    if (!page.next || asked === size) return page;
    return { ...page, next: { ...page.next, size: Math.min(page.next.size, asked * GROWTH) } };
  };
  let next: Promise<Page> | undefined;
  try {
    next = fetch(undefined, Math.min(FIRST_PAGE, options.pageSize));
    while (next) {
      const page: Page = await next;
      for (const shortfall of page.shortfalls) shortfalls.set(shortfall.message, shortfall);
      next = page.next && fetch(page.next.position, page.next.size);
      // Awaited in the next round; until then nobody handles its failure.
      next?.catch(() => undefined);
      for (const part of page.answer.parts) {
        deadline.signal.throwIfAborted();
        const records = await recordsIn(searches, page, part, selected);
        if (records.length > 0) yield records;
      }
      page.answer.free();
    }
    return { shortfalls: [...shortfalls.values()] };
  } finally {
    ended.abort();
    // A search that is still running would open the point in time again.
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
  const again = repeated(position);
  // An index may allow no more than that, what is read again included.
  const asked = Math.min(size, Math.max(1, pageSize - again)) + again;
  const body = pageBody({ query, order, size: asked, total: false }, fields);
  const answer = await searches.searchMany(
    { ...body, pit: { id: point.id, keep_alive: KEEP_ALIVE } },
    call,
    position && searchAfter(position, order, fields.nanoseconds),
  );
  if (!answer) throw lostPoint();
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
