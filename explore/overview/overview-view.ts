// The overview: what the cluster runs, with counts by status as bars, its nodes, and what changed in the last minutes.
import { type ListPage, StatusError, statusCounts } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { COUNTED_KINDS, customResources, titleOf, useExplore } from '../context.ts';
import { listURL } from '../route.ts';
import { loading, notice } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';
import { Nodes } from './nodes.ts';
import { RecentEvents } from './recent-events.ts';

export function OverviewView(): ComponentChildren {
  const { route } = useExplore();
  const namespace = route.query.get('namespace') ?? '';
  const scope = namespace !== '' && h('small', { class: 'muted' }, ` of namespace ${namespace}`);
  return h('div', { class: 'stack' }, [
    h('h1', {}, ['Overview', scope]),
    h('div', { class: 'stack split' }, [
      h('div', { class: 'stack' }, [
        h(KindCounts, { namespace, key: namespace }),
        // Nodes belong to no namespace.
        namespace === '' && h(Nodes, {}),
      ]),
      h(RecentEvents, { title: 'Recent events', filter: { namespace: namespace || undefined } }),
    ]),
  ]);
}

/** Kinds without namespaces, before discovery has responded. */
const CLUSTER_KINDS = new Set(['nodes', 'namespaces']);
/** Pause between two counts, in ms. */
const REPEAT_MS = 10_000;

interface Count {
  readonly resource: string;
  readonly page?: ListPage;
  readonly error?: StatusError;
}

/** `namespace`: empty for all. */
function KindCounts({ namespace }: { readonly namespace: string }): ComponentChildren {
  const { kinds } = useExplore();
  const counts = useCounts(namespace);
  // Of custom resources, only those that exist.
  const shown = counts.filter(({ resource, page }) => page?.totalItems || !kinds.get(resource)?.isCustom);
  const title = ({ resource }: Count): string => titleOf(resource, kinds);
  const forbidden = shown.filter(({ error }) => error?.code === 403);
  const failed = shown.filter(({ error }) => error && error.code !== 403);
  const rows = shown.map(({ resource, page }) => {
    const scope = kinds.get(resource)?.namespaced ? namespace : '';
    const listOf = (status?: string) => listURL(resource, { namespace: scope, status });
    return page && h('li', { key: resource }, countsOf(page, titleOf(resource, kinds), listOf));
  });
  return h('section', { class: 'kinds card', 'aria-label': 'Kinds', 'aria-busy': counts.length === 0 }, [
    h('h2', {}, 'What runs here'),
    counts.length === 0 && loading('Loading …'),
    h('ul', { class: 'divided' }, rows),
    shown.some(({ page }) => page?.partial) &&
      h('p', { class: 'muted' }, 'Only objects of the namespaces that you may list are counted.'),
    forbidden.length > 0 &&
      h('p', { class: 'muted' }, `You may not list: ${forbidden.map(title).join(', ')}.`),
    failed.map((count) => notice('warn', `${title(count)}: ${count.error?.message}`)),
  ]);
}

/** The number of objects, and the most frequent statuses in the order of their tones. `listOf`: address of the list of a status. */
function countsOf(
  { totalItems, facets }: ListPage,
  title: string,
  listOf: (status?: string) => string,
): ComponentChildren {
  const statuses = statusCounts(facets?.['status']);
  const parts = statuses.map(({ status, count, tone }) =>
    h('span', { key: status, 'data-tone': tone, style: { flexGrow: count } }),
  );
  const links = statuses.map(({ status, count, tone }) => {
    const attributes = { key: status, class: 'status', 'data-tone': tone, href: listOf(status) };
    return h('a', attributes, `${count.toLocaleString()} ${status}`);
  });
  return [
    h('a', { class: 'row', href: listOf() }, [
      h('span', { class: 'fill' }, title),
      h('strong', { class: 'number' }, totalItems.toLocaleString()),
    ]),
    statuses.length > 0 && [
      h('div', { class: 'bar', 'aria-hidden': true }, parts),
      h('div', { class: 'row small muted' }, links),
    ],
  ];
}

function useCounts(namespace: string): readonly Count[] {
  const { client, kinds } = useExplore();
  const query = { facets: ['status'], limit: 0, namespace: namespace || undefined };
  const count = async (resource: string, signal: AbortSignal): Promise<Count> => {
    try {
      return { resource, page: await client.lists.page(resource, query, { signal }) };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { resource, error };
    }
  };
  const isEverywhere = namespace === '';
  const counted = [
    ...COUNTED_KINDS.filter((resource) => isEverywhere || !CLUSTER_KINDS.has(resource)),
    ...customResources(kinds).filter((resource) => isEverywhere || kinds.get(resource)?.namespaced),
  ];
  const load = (signal: AbortSignal) => Promise.all(counted.map((resource) => count(resource, signal)));
  const { value = [] } = useLoaded(load, [client, kinds, namespace], REPEAT_MS);
  return value;
}
