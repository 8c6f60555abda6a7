// Loads the page of a list, and keeps it up to date: short pages as live pages; long ones are requested again after a change,
// because each change would send all their objects.
import type { Client, ListPage, ListQuery, StreamOptions } from 'ks-apiserver-client';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { useNow } from '../ui/relative-time.ts';
import { type Live, useLive } from '../ui/use-live.ts';
import { type Rows, rowsOf } from './list-rows.ts';

type Options = StreamOptions & { readonly signal: AbortSignal };

/** Maximum number of objects of a live page. */
const MAX_LIVE = 200;
/** Minimum time in ms between two requests of a long page, and for each of its objects. */
const MIN_PAUSE = 5_000;
const PAUSE_OF_OBJECT = 2;

export function useList(resource: string, query: ListQuery, isPaused: boolean): Live<Rows> {
  const { client } = useExplore();
  const wanted = { ...query, columns: true };
  const open = async function* (options: Options): AsyncGenerator<Rows> {
    const isLong = (query.limit ?? 0) > MAX_LIVE;
    const pages = isLong
      ? longPages(client, resource, wanted, options)
      : client.lists.live(resource, wanted, options);
    let before: Rows | undefined;
    for await (const page of pages) yield (before = rowsOf(resource, page, before));
  };
  return useLive(open, JSON.stringify([resource, wanted]), isPaused);
}

async function* longPages(
  client: Client,
  resource: string,
  query: ListQuery,
  options: Options,
): AsyncGenerator<ListPage> {
  const pause = Math.max(MIN_PAUSE, (query.limit ?? 0) * PAUSE_OF_OBJECT);
  const { signal } = options;
  let changed = Promise.withResolvers<void>();
  const follow = async (): Promise<void> => {
    for await (const _change of client.lists.changes(resource, query, options)) changed.resolve();
  };
  const failed = follow().then(() => new Promise<never>(() => undefined));
  while (!signal.aborted) {
    await Promise.race([changed.promise, failed]);
    changed = Promise.withResolvers();
    yield await client.lists.page(resource, query, { signal });
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Counts by value, for each facet. */
export type Facets = Rows['facets'];

/**
 * The counts of facets that filter themselves: without their own filter, so that further values can be selected. `without`: the
 * parameter of each such facet. They follow the page with a delay.
 */
export function useOtherFacets(
  resource: string,
  query: ListQuery,
  without: Readonly<Record<string, keyof ListQuery>>,
  page: Rows | undefined,
): Facets {
  const { client } = useExplore();
  const [counts, setCounts] = useState<Facets>({});
  const now = useNow();
  const sampled = useMemo(() => page, [now]);
  const names = Object.keys(without);
  useEffect(() => {
    const closed = new AbortController();
    const countsOf = async (facet: string): Promise<Facets> => {
      const parameter = without[facet] ?? 'facets';
      const others = { ...query, page: 1, limit: 0, [parameter]: undefined, facets: [facet] };
      return (await client.lists.page(resource, others, closed)).facets ?? {};
    };
    Promise.all(names.map(countsOf)).then(
      (all) => setCounts(Object.assign({}, ...all)),
      // The list itself shows the error.
      () => undefined,
    );
    return () => closed.abort();
  }, [JSON.stringify(query), names.join(), sampled]);
  return counts;
}
