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
import { useLive } from '../ui/use-live.ts';

/** Objects in a table; the link leads to the others. */
const FEW = 8;
const MAX_EVENTS = 30;

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
  const status = page.columns?.findIndex(({ format }) => format === 'status') ?? -1;
  return h('section', { class: 'card' }, [
    h('h2', {}, [
      `${titleOf(resource, kinds)} `,
      h('a', link(list), page.totalItems === 1 ? 'Show as a list' : `Show all ${page.totalItems}`),
    ]),
    h(
      'table',
      {},
      h(
        'tbody',
        {},
        page.items.map(({ metadata: { uid, name, namespace, creationTimestamp } }, i) => {
          const object = { view: 'object', resource, namespace, name, query: new URLSearchParams() } as const;
          const word = page.cells?.[i]?.[status];
          return h('tr', { key: uid }, [
            h('td', {}, h('a', link(object), name)),
            h('td', {}, typeof word === 'string' && h(Status, { status: word })),
            h('td', { class: 'number' }, h(RelativeTime, { time: creationTimestamp })),
          ]);
        }),
      ),
    ),
  ]);
}

/** The events of an object, the last one first, live. */
export function EventTable({ object }: { readonly object: KubernetesObject }): ComponentChildren {
  const { client } = useExplore();
  const {
    kind,
    metadata: { name, namespace },
  } = object;
  const query = {
    ...{ limit: MAX_EVENTS, columns: true, sortBy: 'lastTimestamp' },
    fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}`,
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
  };
  const { value, error, retry } = useLive(
    (options) => client.lists.live('events', query, options),
    JSON.stringify(query),
  );
  const seen = value?.columns?.findIndex(({ sortKey }) => sortKey === 'lastTimestamp') ?? -1;
  return h('section', { class: 'card' }, [
    h('h2', {}, 'Events'),
    error && h(Failure, { error, retry }),
    value?.items.length === 0 && h('p', { class: 'muted' }, 'No event of the last hours.'),
    value &&
      value.items.length > 0 &&
      h(
        'div',
        { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Events' },
        h('table', {}, [
          h(
            'thead',
            { class: 'hidden-text' },
            h(
              'tr',
              {},
              ['Type', 'Reason', 'Message', 'Last seen'].map((text) =>
                h('th', { key: text, scope: 'col' }, text),
              ),
            ),
          ),
          h(
            'tbody',
            {},
            value.items.map((event, i) => {
              const time = value.cells?.[i]?.[seen];
              return h('tr', { key: event.metadata.uid }, [
                h('td', {}, h(Status, { status: textAt(event, 'type') })),
                h('td', {}, textAt(event, 'reason')),
                h('td', { class: 'message' }, textAt(event, 'message')),
                h(
                  'td',
                  { class: 'number' },
                  h(RelativeTime, { time: typeof time === 'string' ? time : undefined }),
                ),
              ]);
            }),
          ),
        ]),
      ),
  ]);
}
