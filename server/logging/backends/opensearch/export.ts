// Exports all selected records from OpenSearch or Elasticsearch, sorted by time. The export reads a point in time
// (PIT), a consistent view of the indices.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { pause } from '../../../concurrency/pause.ts';
import type { Call, Deadline, ExportBatches, LogRecord, Order } from '../../log-store.ts';
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
  /** Maximum number of records in a page. */
  readonly pageSize: number;
  /** Time limit of one page, in ms. */
  readonly pageMs?: number | undefined;
  /** Pauses before a lost point in time is replaced, and while shards are unavailable, in ms. */
  readonly pausesMs?: readonly number[] | undefined;
  /** Returns the query over the indices that exist now; undefined if it can match no line. */
  readonly plan: () => Promise<SelectionQuery | undefined>;
}

/** Records in the first page. Few, because the length of the lines is unknown. Later pages have about PAGE_BYTES. */
const FIRST_PAGE = 100;
const PAGE_BYTES = 128 << 10;
const SMALLEST_PAGE = 20;
/** Maximum growth from page to page after a page was too large. */
const GROWTH = 2;
export const PAGE_MS = 60_000;
/** Promoting a replica shard takes one or two seconds. */
const PAUSES_MS = [500, 1_000, 2_000];

/** Start and maximum number of records of the next page. */
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
  /** Shortfalls by their message. */
  readonly shortfalls: Map<string, Shortfall>;
}

/**
 * Fetches the next page while the client reads the current one. If the store loses the point in time, the export
 * opens a new one and continues after its last record.
 */
export async function* exportRecords(
  options: ExportOptions,
  order: Order,
  deadline: Deadline,
): ExportBatches {
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

/** Exports one point in time. If it is lost, returns the place at which a new point in time has to continue. */
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
  // The first page after a resume is sent even if it is partial, so that the export makes progress.
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
      // Prevents an unhandled rejection; the next iteration awaits the promise.
      next?.catch(() => undefined);
      deadline.signal.throwIfAborted();
      if (page.records.length > 0) yield page.records;
    }
    return undefined;
  } finally {
    ended.abort();
    // A running search would keep the point in time open.
    await next?.catch(() => undefined);
    await point.close();
  }
}

/**
 * Opens a point in time, and waits for shards that were available before. Returns `changed` if indices were created,
 * closed or deleted since the query was built.
 */
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

/** Number of records that fit into PAGE_BYTES, estimated from the lines of a page. */
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
