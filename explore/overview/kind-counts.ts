// Counts of the objects of the most important kinds, by status, as bars. Each count leads to a list.
import { type Client, type ListPage, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { type Kind, titleOf } from '../kinds.ts';
import { link, queryOf } from '../route.ts';
import { Notice } from '../ui/notice.ts';
import { toneOf } from '../ui/status.ts';
import { useLoaded } from '../ui/use-live.ts';

const KINDS = [
  'pods',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'persistentvolumeclaims',
  'nodes',
  'namespaces',
];
/**
 * The server starts to follow each kind that is counted. In a cluster with more kinds of custom resources than this, only those that
 * it follows already are counted.
 */
const MANY_CUSTOM = 12;
/** Pause between two counts, in ms. */
const REPEAT_MS = 10_000;
const TONES = ['good', 'info', 'idle', 'warn', 'bad'];

type Count = ListPage | StatusError;

export function KindCounts({ namespace }: { readonly namespace: string }): ComponentChildren {
  const { client, kinds } = useExplore();
  const { value: counts = new Map<string, Count>() } = useLoaded(
    (signal) => countsOf(client, kinds, namespace, signal),
    [client, kinds, namespace],
    REPEAT_MS,
  );
  const shown = [...counts].flatMap(([resource, count]) =>
    count instanceof Error || (kinds.get(resource)?.isCustom && count.totalItems === 0)
      ? []
      : [{ resource, count }],
  );
  const failed = [...counts].flatMap(([resource, error]) =>
    error instanceof StatusError && !kinds.get(resource)?.isCustom
      ? [{ title: titleOf(resource, kinds), error }]
      : [],
  );
  const forbidden = failed.flatMap(({ title, error }) => (error.code === 403 ? title : []));
  return h('section', { class: 'kinds card', 'aria-labelledby': 'kinds', 'aria-busy': counts.size === 0 }, [
    h('h2', { id: 'kinds' }, 'What runs here'),
    h(
      'ul',
      { class: 'divided' },
      shown.map(({ resource, count }) => h(Row, { key: resource, resource, count, namespace })),
    ),
    shown.some(({ count }) => count.partial) &&
      h('p', { class: 'muted' }, 'Only objects of the namespaces that you may list are counted.'),
    forbidden.length > 0 && h('p', { class: 'muted' }, `You may not list: ${forbidden.join(', ')}.`),
    failed
      .filter(({ error }) => error.code !== 403)
      .map(({ title, error }) => h(Notice, { tone: 'warn', key: title }, `${title}: ${error.message}`)),
  ]);
}

interface RowProps {
  readonly resource: string;
  readonly count: ListPage;
  readonly namespace: string;
}

function Row({ resource, count, namespace }: RowProps): ComponentChildren {
  const { kinds } = useExplore();
  const scope = kinds.get(resource)?.namespaced ? namespace : '';
  const statuses = statusesOf(count);
  const listOf = (status: string) =>
    link({ view: 'list', resource, query: queryOf({ namespace: scope, status }) });
  return h('li', {}, [
    h('a', { class: 'kind', 'data-empty': count.totalItems === 0, ...listOf('') }, [
      h('span', {}, titleOf(resource, kinds)),
      h('span', { class: 'number' }, count.totalItems.toLocaleString()),
    ]),
    statuses.length > 0 &&
      h(
        'div',
        { class: 'bar', 'aria-hidden': true },
        statuses.map(([status, number]) =>
          h('span', { key: status, 'data-tone': toneOf(status), style: { flexGrow: number } }),
        ),
      ),
    h(
      'span',
      { class: 'counts' },
      statuses.map(([status, number]) =>
        h(
          'a',
          { key: status, class: 'status', 'data-tone': toneOf(status), ...listOf(status) },
          `${number.toLocaleString()} ${status}`,
        ),
      ),
    ),
  ]);
}

/** Maximum number of statuses beside a bar; the list has the others. */
const STATUSES = 5;

/** The most frequent statuses, in the order of their tones. */
function statusesOf({ facets }: ListPage): readonly (readonly [status: string, number: number])[] {
  return Object.entries(facets?.['status'] ?? {})
    .sort(([, a], [, b]) => b - a)
    .slice(0, STATUSES)
    .sort(([a], [b]) => TONES.indexOf(toneOf(a)) - TONES.indexOf(toneOf(b)));
}

/** The counts by resource. */
async function countsOf(
  client: Client,
  kinds: ReadonlyMap<string, Kind>,
  namespace: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Count>> {
  const query = { facets: ['status'], limit: 0, ...(namespace === '' ? {} : { namespace }) };
  const count = async (resource: string): Promise<readonly [string, Count]> => [
    resource,
    await client.lists.page(resource, query, { signal }).catch((error: unknown) => {
      if (error instanceof StatusError) return error;
      throw error;
    }),
  ];
  return new Map(await Promise.all((await countedKinds(client, kinds, namespace, signal)).map(count)));
}

async function countedKinds(
  client: Client,
  kinds: ReadonlyMap<string, Kind>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const custom = [...kinds.values()].filter(({ isCustom }) => isCustom).map(({ resource }) => resource);
  // The response names the followed kinds, whatever the text is.
  const followed =
    custom.length > MANY_CUSTOM ? (await client.search('overview', { limit: 1, signal })).kinds : custom;
  return [...KINDS, ...custom.filter((resource) => followed.includes(resource)).slice(0, MANY_CUSTOM)].filter(
    (resource) => namespace === '' || kinds.get(resource)?.namespaced !== false,
  );
}
