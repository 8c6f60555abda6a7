// A short table of the objects that belong to an object.
import { type RelatedList, statusOf } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { link, listRoute, objectRoute } from '../route.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { TextTable } from '../ui/text-table.ts';
import { useLoaded } from '../ui/use-live.ts';

/** Objects in a table; the link leads to the others. */
const FEW = 8;
const REPEAT_MS = 5_000;
const NAMES = ['Name', 'Status', 'Age'];

/** The objects of a list; nothing if there are none. */
export function RelatedTable({ resource, query }: RelatedList): ComponentChildren {
  const { client, kinds } = useExplore();
  const wanted = { ...query, sortBy: 'name', ascending: true, limit: FEW, columns: true };
  const load = (signal: AbortSignal) => client.lists.page(resource, wanted, { signal });
  const { value: page } = useLoaded(load, [resource, JSON.stringify(query)], REPEAT_MS);
  if (!page || page.totalItems === 0) return null;
  const label = titleOf(resource, kinds);
  const all = page.totalItems === 1 ? 'Show as a list' : `Show all ${page.totalItems}`;
  const rows = page.items.map(({ metadata }, i) => [
    h('a', link(objectRoute(resource, metadata)), metadata.name),
    h(Status, { status: statusOf(page, i) ?? '' }),
    h(RelativeTime, { time: metadata.creationTimestamp }),
  ]);
  return h('section', { class: 'card' }, [
    h('h2', {}, [label, h('a', link(listRoute(resource, query)), all)]),
    h(TextTable, { label, names: NAMES, rows }),
  ]);
}
