// Loads the rows of a list that are visible, and keeps them up to date.
import {
  type ListWindow,
  type Rows,
  rowsOf,
  rowsQuery,
  type StreamOptions,
  windowOf,
} from 'ks-apiserver-client';
import { useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Live, useLive, useLoaded } from '../ui/use-live.ts';
import { columnsOf, type ShownColumn } from './list-columns.ts';
import type { ListFacet, ShownQuery } from './list-query.ts';

/** The rows of a window of a page. */
export interface ListRows extends Rows {
  readonly columns: readonly ShownColumn[];
  /** Of the list and the page. */
  readonly name: string;
  /** Index of the first object of the page in the list, and the maximum number of its objects. */
  readonly start: number;
  readonly limit: number;
  /** Index of the first row in the page. */
  readonly first: number;
}

export interface LiveList extends Live<ListRows> {
  /** Loads the rows of the page from `first` to `last`, which is excluded. Returns a function that cancels this. */
  readonly show: (first: number, last: number) => (() => void) | undefined;
}

/** Shorter pages are loaded as a whole. */
const MAX_WHOLE = 200;
/** Rows that are loaded before and after the visible ones, at least. */
const MARGIN = 24;
/** Minimum time in ms between two windows while the user scrolls to neighbouring rows. */
const NEAR_MS = 250;
/** Time in ms for which the user stays at other rows before they are loaded: a scroll bar passes many rows. */
const FAR_MS = 150;
/** Time in ms between two requests of the counts of facets. */
const FACETS_MS = 10_000;

export function useList(
  resource: string,
  shown: ShownQuery,
  facets: readonly string[],
  isPaused: boolean,
): LiveList {
  const { client } = useExplore();
  const name = JSON.stringify([resource, shown, facets]);
  const begin = { name, window: windowAt(shown, 0, 0) };
  const [moved, setMoved] = useState(begin);
  const { window } = moved.name === name ? moved : begin;
  const start = (shown.page - 1) * shown.limit;
  const first = (window.page - 1) * window.limit - start;
  // Columns of all pages.
  const list = JSON.stringify([resource, { ...shown, page: 0, limit: 0 }]);
  const known = useRef<{ readonly list: string; readonly columns: readonly ShownColumn[] }>(undefined);
  const open = async function* (options: StreamOptions): AsyncGenerator<ListRows> {
    const query = { ...shown, ...window, facets, ...rowsQuery(resource) };
    for await (const page of client.lists.live(resource, query, options)) {
      const rows = rowsOf(resource, page);
      const columns = columnsOf(rows, known.current?.list === list ? known.current.columns : []);
      known.current = { list, columns };
      yield { ...rows, columns, name, start, limit: shown.limit, first };
    }
  };
  const live = useLive(open, JSON.stringify([name, window]), { isPaused });
  const movedAt = useRef(0);
  const show = (from: number, to: number): (() => void) | undefined => {
    const end = first + window.limit;
    if (live.value?.name !== name || (from >= first && to <= end)) return undefined;
    const isNear = from <= end && to >= first;
    const pause = isNear ? movedAt.current + NEAR_MS - performance.now() : FAR_MS;
    const timer = setTimeout(() => {
      movedAt.current = performance.now();
      setMoved({ name, window: windowAt(shown, from, to) });
    }, pause);
    return () => clearTimeout(timer);
  };
  return { ...live, show };
}

/** Returns the objects that are loaded for the visible rows of a page. */
function windowAt({ page, limit }: ShownQuery, from: number, to: number): ListWindow {
  if (limit <= MAX_WHOLE) return { page, limit };
  const start = (page - 1) * limit;
  return windowOf(start + Math.max(0, from - MARGIN), start + Math.min(limit, to + MARGIN));
}

/** Counts by value, for each facet. */
export type Counts = Rows['facets'];

/**
 * The counts of facets that filter: each without its own filter, so that further values can be selected. `listed`: the counts of
 * the list. When they change, the others are read again, so that both agree.
 */
export function useCounts(
  resource: string,
  query: ShownQuery,
  filtering: readonly ListFacet[],
  listed: Counts | undefined,
): Counts {
  const { client } = useExplore();
  const load = async (signal: AbortSignal): Promise<Counts> => {
    const pages = await Promise.all(
      filtering.map(({ name, filter }) => {
        const others = { ...query, page: 1, limit: 0, facets: [name], [filter]: undefined };
        return client.lists.page(resource, others, { signal });
      }),
    );
    return Object.assign({}, ...pages.map(({ facets }) => facets));
  };
  const key = JSON.stringify([resource, query, filtering, listed]);
  return useLoaded(load, [key], FACETS_MS).value ?? {};
}
