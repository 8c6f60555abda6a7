// Short tables of the objects that belong to an object, and of its events.
import type { KubernetesObject, ListPage } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { textAt } from '../list/kind-columns.ts';
import { queryOf } from '../list/list-query.ts';
import { type ListRoute, link } from '../route.ts';
import { Failure } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { TextTable } from '../ui/text-table.ts';
import { useLive } from '../ui/use-live.ts';
import { statusOf } from './use-object.ts';

/** Objects in a table; the link leads to the others. */
const FEW = 8;
const MAX_EVENTS = 30;
const EVENT = ['Type', 'Reason', 'Message', 'Last seen'];

export interface RelatedTableProps {
  readonly list: ListRoute;
  /** The version of the object: the table is loaded again after its changes. */
  readonly version: string;
}

/** The objects of a list; nothing if there are none. */
export function RelatedTable({ list, version }: RelatedTableProps): ComponentChildren {
  const { client, kinds } = useExplore();
  const { resource, query } = list;
  const [page, setPage] = useState<ListPage>();
  useEffect(() => {
    const closed = new AbortController();
    const wanted = { ...queryOf(list).list, limit: FEW, columns: true };
    client.lists
      .page(resource, wanted, closed)
      .then(setPage, () => closed.signal.aborted || setPage(undefined));
    return () => closed.abort();
  }, [resource, query.toString(), version]);
  if (!page || page.totalItems === 0) return null;
  const rows = page.items.map(({ metadata: { uid, name, namespace, creationTimestamp } }, i) => {
    const object = { view: 'object', resource, namespace, name, query: new URLSearchParams() } as const;
    const status = statusOf(page, i);
    return h('tr', { key: uid }, [
      h('td', {}, h('a', link(object), name)),
      h('td', {}, status !== undefined && h(Status, { status })),
      h('td', { class: 'number' }, h(RelativeTime, { time: creationTimestamp })),
    ]);
  });
  return h('section', { class: 'card' }, [
    h('h2', {}, [
      `${titleOf(resource, kinds)} `,
      h('a', link(list), page.totalItems === 1 ? 'Show as a list' : `Show all ${page.totalItems}`),
    ]),
    h('table', {}, h('tbody', {}, rows)),
  ]);
}

/** The events of an object, the last one first, live. */
export function EventTable({ object }: { readonly object: KubernetesObject }): ComponentChildren {
  const { client } = useExplore();
  const { name, namespace } = object.metadata;
  const query = {
    ...{ limit: MAX_EVENTS, columns: true, sortBy: 'lastTimestamp', namespace },
    fieldSelector: `involvedObject.kind=${object.kind},involvedObject.name=${name}`,
  };
  const { value, error, retry } = useLive(
    (options) => client.lists.live('events', query, options),
    JSON.stringify(query),
  );
  const seen = value?.columns?.findIndex(({ sortKey }) => sortKey === 'lastTimestamp') ?? -1;
  const rows = value?.items.map((event, i) =>
    h('tr', { key: event.metadata.uid }, [
      h('td', {}, h(Status, { status: textAt(event, 'type') })),
      h('td', {}, textAt(event, 'reason')),
      h('td', { class: 'message' }, textAt(event, 'message')),
      h('td', { class: 'number' }, h(RelativeTime, { time: String(value.cells?.[i]?.[seen]) })),
    ]),
  );
  return h('section', { class: 'card' }, [
    h('h2', {}, 'Events'),
    error && h(Failure, { error, retry }),
    rows?.length === 0 && h('p', { class: 'muted' }, 'No event of the last hours.'),
    rows && rows.length > 0 && h(TextTable, { label: 'Events', names: EVENT, isHeadHidden: true, rows }),
  ]);
}
