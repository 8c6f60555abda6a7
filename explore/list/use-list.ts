// Loads the page of a list, and keeps it up to date.
import {
  type Client,
  type ListPage,
  type ListQuery,
  type Rows,
  rowsOf,
  type StreamOptions,
} from 'ks-apiserver-client';
import { useExplore } from '../context.ts';
import { type Live, useLive, useLoaded } from '../ui/use-live.ts';
import type { Facet } from './list-query.ts';

/** Maximum number of objects of a live page. */
const MAX_LIVE = 200;
/** Minimum time in ms between two requests of a long page, for each of its objects. */
const PAUSE_OF_OBJECT = 2;
/** Time in ms between two requests of the counts of facets. */
const FACETS_MS = 10_000;

export function useList(resource: string, query: ListQuery, isPaused: boolean): Live<Rows> {
  const { client } = useExplore();
  const wanted = { ...query, columns: true };
  const open = async function* (options: StreamOptions): AsyncGenerator<Rows> {
    const isLong = (query.limit ?? 0) > MAX_LIVE;
    const pages = isLong
      ? longPages(client, resource, wanted, options)
      : client.lists.live(resource, wanted, options);
    for await (const page of pages) yield rowsOf(resource, page);
  };
  return useLive(open, JSON.stringify([resource, wanted]), isPaused);
}

/** Requests the page again after changes, with a pause, because a live page would send all objects after each change. */
async function* longPages(
  client: Client,
  resource: string,
  query: ListQuery,
  options: StreamOptions,
): AsyncGenerator<ListPage> {
  const pause = (query.limit ?? 0) * PAUSE_OF_OBJECT;
  let seen = 0;
  for await (const { resourceVersion } of client.lists.changes(resource, query, options)) {
    // A change that arrived during the pause, which the page contains.
    if (Number(resourceVersion) <= seen) continue;
    const page = await client.lists.page(resource, query, options);
    seen = Number(page.metadata.resourceVersion);
    yield page;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Counts by value, for each facet. */
export type Counts = Rows['facets'];

/** The counts of facets that filter: each without its own filter, so that further values can be selected. */
export function useCounts(resource: string, query: ListQuery, filtering: readonly Facet[]): Counts {
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
  const { value = {} } = useLoaded(load, [resource, JSON.stringify([query, filtering])], FACETS_MS);
  return value;
}
