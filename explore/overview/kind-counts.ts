// Counts of the objects of the most important kinds, by status, as bars. Each count leads to a list.
import { type Client, type ListPage, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { type Kind, titleOf } from '../kinds.ts';
import { link, listRoute } from '../route.ts';
import { Notice } from '../ui/notice.ts';
import { toneOf } from '../ui/status.ts';
import { useLoaded } from '../ui/use-live.ts';

const KINDS = [
  ...['pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch'],
  ...['persistentvolumeclaims', 'nodes', 'namespaces'],
];
/** Maximum number of kinds of custom resources, because the server starts to follow each kind that is counted. */
const CUSTOM_KINDS = 12;
const TONES = ['good', 'info', 'idle', 'warn', 'bad'];
/** Pause between two counts, in ms. */
const REPEAT_MS = 10_000;

interface Count {
  readonly resource: string;
  readonly page?: ListPage;
  readonly error?: StatusError;
}

/** `namespace`: empty for all. */
export function KindCounts({ namespace }: { readonly namespace: string }): ComponentChildren {
  const { client, kinds } = useExplore();
  const load = (signal: AbortSignal) => countsOf(client, kinds, namespace, signal);
  const { value: counts = [] } = useLoaded(load, [client, kinds, namespace], REPEAT_MS);
  // Of custom resources, only those that exist.
  const shown = counts.filter(({ resource, page }) => page?.totalItems || !kinds.get(resource)?.isCustom);
  const title = ({ resource }: Count): string => titleOf(resource, kinds);
  const forbidden = shown.filter(({ error }) => error?.code === 403);
  const failed = shown.filter(({ error }) => error && error.code !== 403);
  return h('section', { class: 'kinds card', 'aria-labelledby': 'kinds', 'aria-busy': counts.length === 0 }, [
    h('h2', { id: 'kinds' }, 'What runs here'),
    h(
      'ul',
      { class: 'divided' },
      shown.map(({ resource, page }) => page && h(Row, { key: resource, resource, page, namespace })),
    ),
    shown.some(({ page }) => page?.partial) &&
      h('p', { class: 'muted' }, 'Only objects of the namespaces that you may list are counted.'),
    forbidden.length > 0 &&
      h('p', { class: 'muted' }, `You may not list: ${forbidden.map(title).join(', ')}.`),
    failed.map((count) => h(Notice, { tone: 'warn' }, `${title(count)}: ${count.error?.message}`)),
  ]);
}

interface RowProps {
  readonly resource: string;
  readonly page: ListPage;
  readonly namespace: string;
}

function Row({ resource, page, namespace }: RowProps): ComponentChildren {
  const { kinds } = useExplore();
  const { totalItems } = page;
  const scope = kinds.get(resource)?.namespaced ? namespace : '';
  const listOf = (status?: string) => link(listRoute(resource, { namespace: scope, status }));
  const statuses = statusesOf(page).map(([status, count]) => ({
    ...{ status, count, text: `${count.toLocaleString()} ${status}` },
    attributes: { key: status, 'data-tone': toneOf(status) },
  }));
  return h('li', {}, [
    h('a', { class: 'kind', 'data-empty': totalItems === 0, ...listOf() }, [
      titleOf(resource, kinds),
      h('strong', { class: 'number' }, totalItems.toLocaleString()),
    ]),
    statuses.length > 0 && [
      h(
        'div',
        { class: 'bar', 'aria-hidden': true },
        statuses.map(({ count, attributes }) => h('span', { ...attributes, style: { flexGrow: count } })),
      ),
      h(
        'div',
        { class: 'row small muted' },
        statuses.map(({ status, text, attributes }) =>
          h('a', { ...attributes, class: 'status', ...listOf(status) }, text),
        ),
      ),
    ],
  ]);
}

/** Maximum number of statuses beside a bar; the list has the others. */
const STATUSES = 5;

/** The most frequent statuses, in the order of their tones. */
function statusesOf({ facets }: ListPage): readonly (readonly [status: string, count: number])[] {
  return Object.entries(facets?.['status'] ?? {})
    .sort(([, a], [, b]) => b - a)
    .slice(0, STATUSES)
    .sort(([a], [b]) => TONES.indexOf(toneOf(a)) - TONES.indexOf(toneOf(b)));
}

async function countsOf(
  client: Client,
  kinds: ReadonlyMap<string, Kind>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly Count[]> {
  const query = { facets: ['status'], limit: 0, namespace: namespace || undefined };
  const count = async (resource: string): Promise<Count> => {
    try {
      return { resource, page: await client.lists.page(resource, query, { signal }) };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { resource, error };
    }
  };
  const custom = [...kinds.values()].filter(({ isCustom }) => isCustom).slice(0, CUSTOM_KINDS);
  const counted = [...KINDS, ...custom.map(({ resource }) => resource)];
  const isInScope = (resource: string): boolean =>
    namespace === '' || kinds.get(resource)?.namespaced !== false;
  return await Promise.all(counted.filter(isInScope).map(count));
}
