// Export of all records of a selection in order: pages of a point in time, the next of which is fetched while the caller
// reads. If the point in time is lost, the export continues behind its last record with a new one.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { pause } from '../../../concurrency/pause.ts';
import type { Deadline } from '../../deadline.ts';
import type { Call, Coverage, LogRecord, Order } from '../../log-store.ts';
import { withFewerLines } from '../../page-limit.ts';
import { isIndexAccessDenied } from '../../store-errors.ts';
import { isTransient } from './error-response.ts';
import { listed } from './index-sets.ts';
import { newHits, type Position, positionBehind, repeatedHits, searchAfter, sortedSearch } from './page.ts';
import { isLostPoint, type PointInTime, type PointsInTime } from './point-in-time.ts';
import type { RecordReader } from './search-response.ts';
import type { SelectionQuery } from './selection-query.ts';

export interface ExportOptions {
  readonly points: PointsInTime;
  readonly records: RecordReader;
  /** Maximum number of records of a page. */
  readonly pageSize: number;
  /** Milliseconds for one page; an export has no limit of its own. */
  readonly pageMs?: number | undefined;
  /** Pauses before a lost point in time is replaced, and while its shards are unavailable, in ms. */
  readonly pausesMs?: readonly number[] | undefined;
  /** The query, over the indices that exist now; undefined if it matches no line. */
  readonly plan: () => Promise<SelectionQuery | undefined>;
}

/** The first page is small, because the length of the lines is unknown. Later ones have about PAGE_BYTES. */
const FIRST_PAGE = 100;
const PAGE_BYTES = 512 << 10;
const SMALLEST_PAGE = 20;
/** How much larger the next page may be after one that was too large. */
const GROWTH = 2;
export const PAGE_MS = 60_000;
/** A replica takes over within one or two seconds. */
const PAUSES_MS = [500, 1_000, 2_000];

/** Where the next page starts, and its maximum number of records. */
interface Place {
  readonly position: Position | undefined;
  readonly size: number;
}

interface Page {
  readonly records: readonly LogRecord[];
  readonly next: Place | undefined;
  readonly shortfalls: readonly Shortfall[];
}

interface ExportState {
  readonly order: Order;
  readonly deadline: Deadline;
  /** By message. */
  readonly shortfalls: Map<string, Shortfall>;
}

export async function* exportRecords(
  options: ExportOptions,
  order: Order,
  deadline: Deadline,
): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
  const [firstPauseMs = 0] = options.pausesMs ?? PAUSES_MS;
  const state: ExportState = { order, deadline, shortfalls: new Map() };
  let selected = await options.plan();
  let place: Place | undefined = { position: undefined, size: Math.min(FIRST_PAGE, options.pageSize) };
  for (let isResumed = false; selected && place; isResumed = true) {
    place = yield* exportPoint(options, selected, { place, isResumed }, state);
    if (!place) break;
    await pause(firstPauseMs, deadline.signal);
    const before = selected.indices.indices;
    selected = await options.plan();
    const now = selected?.indices.indices ?? [];
    add(state.shortfalls, deleted(before.filter((index) => !now.includes(index))));
  }
  return { shortfalls: [...state.shortfalls.values()] };
}

/** Returns where another point in time has to continue, if this one was lost. */
async function* exportPoint(
  options: ExportOptions,
  selected: SelectionQuery,
  { place: begin, isResumed }: { readonly place: Place; readonly isResumed: boolean },
  { order, deadline, shortfalls }: ExportState,
): AsyncGenerator<readonly LogRecord[], Place | undefined, undefined> {
  const ended = new AbortController();
  const { pageMs = PAGE_MS } = options;
  const reading = deadline.until(ended.signal);
  const pageCall = (): Call => reading.within(pageMs).call();
  add(shortfalls, selected.shortfalls);
  const opened = await openPoint(options, selected, { isResumed, shortfalls }, pageCall);
  if (opened === 'changed') return begin;
  if (!opened) return undefined;
  const point = opened;
  add(shortfalls, point.shortfalls);
  const fetch = async (place: Place): Promise<Page> => {
    const { result: page, requested } = await withFewerLines(
      place.size,
      (size) => fetchPage(options, selected, { order, point, place: { ...place, size } }, pageCall()),
      reading.signal,
    );
    if (!page.next || requested === place.size) return page;
    return { ...page, next: { ...page.next, size: Math.min(page.next.size, requested * GROWTH) } };
  };
  let place = begin;
  let next: Promise<Page> | undefined;
  // A resumed export has to make progress, so its first page is final.
  let isFinal = isResumed;
  try {
    next = fetch(place);
    while (next) {
      const page: Page | undefined = await (isFinal ? next : next.catch(undefinedIfResumable));
      if (!page || (!isFinal && haveNewFailures(page.shortfalls, shortfalls))) return place;
      isFinal = false;
      add(shortfalls, page.shortfalls);
      if (page.next) place = page.next;
      next = page.next && fetch(page.next);
      // Handled in the next round.
      next?.catch(() => undefined);
      deadline.signal.throwIfAborted();
      if (page.records.length > 0) yield page.records;
    }
    return undefined;
  } finally {
    ended.abort();
    // A search that still runs would keep the point in time open.
    await next?.catch(() => undefined);
    await point.close();
  }
}

/** Waits for shards that were available before. `changed`: the indices are others than those of the query. */
async function openPoint(
  { points, pausesMs = PAUSES_MS }: ExportOptions,
  { indices }: SelectionQuery,
  { isResumed, shortfalls }: Pick<ExportState, 'shortfalls'> & { readonly isResumed: boolean },
  pageCall: () => Call,
): Promise<PointInTime | 'changed' | undefined> {
  if (!isResumed) {
    return points.open(indices, pageCall()).catch((error: unknown) => {
      if (isIndexAccessDenied(error)) return 'changed' as const;
      throw error;
    });
  }
  for (const ms of pausesMs.slice(1)) {
    const point = await points.open(indices, pageCall()).catch(undefinedIfResumable);
    if (point && !haveNewFailures(point.shortfalls, shortfalls)) return point;
    await point?.close();
    await pause(ms, pageCall().signal);
  }
  return points.open(indices, pageCall());
}

function add(shortfalls: Map<string, Shortfall>, more: readonly Shortfall[]): void {
  for (const shortfall of more) shortfalls.set(shortfall.message, shortfall);
}

function haveNewFailures(found: readonly Shortfall[], known: ReadonlyMap<string, Shortfall>): boolean {
  return found.some(({ reason, message }) => reason === 'ShardFailed' && !known.has(message));
}

function undefinedIfResumable(error: unknown): undefined {
  if (![isLostPoint, isIndexAccessDenied, isTransient].some((isResumable) => isResumable(error))) throw error;
}

async function fetchPage(
  { records, pageSize }: ExportOptions,
  selected: SelectionQuery,
  {
    order,
    point,
    place: { position, size },
  }: { readonly order: Order; readonly point: PointInTime; readonly place: Place },
  call: Call,
): Promise<Page> {
  const { nanoseconds } = selected.indices;
  const repeated = repeatedHits(position);
  const asked = Math.min(size, Math.max(1, pageSize - repeated)) + repeated;
  const body = sortedSearch(selected, { order, size: asked });
  const { hits, shortfalls } = await point.search(
    body,
    call,
    position && searchAfter(position, order, nanoseconds),
  );
  const found = newHits(hits, position).map((hit) => ({ hit, record: records.read(hit) }));
  const last = found.at(-1)?.hit;
  const isLast = last === undefined || hits.length < asked;
  return {
    records: found.map(({ record }) => record),
    shortfalls,
    next: isLast
      ? undefined
      : { position: positionBehind(hits, last, position), size: sizeFor(found, pageSize) },
  };
}

/** Records in PAGE_BYTES, by the length of the lines of a page. */
function sizeFor(found: readonly { readonly record: LogRecord }[], most: number): number {
  const characters = found.reduce((sum, { record: { log } }) => sum + log.length + 300, 0);
  return Math.min(most, Math.max(SMALLEST_PAGE, Math.floor((PAGE_BYTES * found.length) / characters)));
}

function deleted(names: readonly string[]): Shortfall[] {
  if (names.length === 0) return [];
  return [
    { reason: 'NotCovered', message: `the log store no longer has ${listed(names)}, or cannot reach it` },
  ];
}
