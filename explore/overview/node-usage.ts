// The nodes with their capacity, and how much of it is used: measured, requested by pods, or unknown.
import { type Client, type KubernetesObject, type ListPage, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { bytesText, coresText, quantityOf } from '../quantity.ts';
import { link, queryOf } from '../route.ts';
import { Failure } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';

interface Node extends KubernetesObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface NodeMetrics {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly usage?: Readonly<Record<string, string>>;
  }[];
}

type Amounts = Readonly<Record<'cpu' | 'memory', number | undefined>>;
type Source = 'measured' | 'requested' | 'unknown';

interface Shown {
  readonly page: ListPage<Node>;
  readonly source: Source;
  readonly used: ReadonlyMap<string, Amounts>;
}

const SHOWN = 12;
/** Pause between two requests, in ms. */
const REPEAT_MS = 10_000;
const EXPLANATIONS: Readonly<Record<Source, string>> = {
  measured: 'Used now, of what pods can use.',
  requested: 'Requested by pods, of what pods can use: the cluster measures no usage.',
  unknown: 'What pods can use. The cluster measures no usage.',
};

const COLUMNS = ['Node', 'CPU', 'Memory', 'Pods at most'];

export function NodeUsage(): ComponentChildren {
  const { client, groups } = useExplore();
  const isMeasured = groups.has('metrics.k8s.io');
  const polled = useLoaded(
    (signal) => loadNodes(client, isMeasured, signal),
    [client, isMeasured],
    REPEAT_MS,
  );
  const { value: shown, error, retry } = polled;
  // The counts of kinds say so already.
  if (error instanceof StatusError && error.code === 403) return null;
  const total = shown?.page.totalItems ?? 0;
  const all = link({ view: 'list', resource: 'nodes', query: new URLSearchParams() });
  return h('section', { class: 'nodes card', 'aria-labelledby': 'nodes', 'aria-busy': !shown && !error }, [
    h('h2', { id: 'nodes' }, [
      'Nodes',
      h('a', all, total > SHOWN ? `All ${total.toLocaleString()} nodes` : 'All nodes'),
    ]),
    error && h(Failure, { error, retry }),
    shown && h('p', { class: 'muted' }, EXPLANATIONS[shown.source]),
    shown &&
      h(
        'div',
        { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Table of nodes' },
        h('table', {}, [
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              COLUMNS.map((name) => h('th', { scope: 'col' }, name)),
            ),
          ),
          h(
            'tbody',
            {},
            shown.page.items.map((node) =>
              h(NodeRow, { key: node.metadata.uid, node, used: shown.used.get(node.metadata.name) }),
            ),
          ),
        ]),
      ),
  ]);
}

interface RowProps {
  readonly node: Node;
  readonly used: Amounts | undefined;
}

function NodeRow({ node, used }: RowProps): ComponentChildren {
  const { name } = node.metadata;
  const { cpu, memory, pods } = node.status?.allocatable ?? {};
  const isReady =
    node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  const state = isReady ? (node.spec?.unschedulable ? 'Ready, unschedulable' : 'Ready') : 'Not ready';
  const query = queryOf({ fieldSelector: `spec.nodeName=${name}` });
  return h('tr', {}, [
    h('th', { scope: 'row' }, [
      h(
        'a',
        link({ view: 'object', resource: 'nodes', namespace: undefined, name, query: new URLSearchParams() }),
        name,
      ),
      h('span', { class: 'status caption', 'data-tone': isReady ? 'good' : 'bad' }, state),
    ]),
    h(
      'td',
      {},
      h(Meter, { label: `CPU of ${name}`, used: used?.cpu, total: cpu, text: coresText, unit: ' cores' }),
    ),
    h('td', {}, h(Meter, { label: `Memory of ${name}`, used: used?.memory, total: memory, text: bytesText })),
    h('td', {}, [pods ?? '–', h('a', link({ view: 'list', resource: 'pods', query }), 'Show pods')]),
  ]);
}

interface MeterProps {
  readonly label: string;
  readonly used: number | undefined;
  readonly total: string | undefined;
  readonly text: (amount: number) => string;
  readonly unit?: string;
}

/** From this share on, the bar warns. */
const HIGH = 0.8;
const FULL = 0.95;

function Meter({ label, used, total, text, unit = '' }: MeterProps): ComponentChildren {
  const allocatable = quantityOf(total);
  if (allocatable === undefined) return '–';
  const capacity = `${text(allocatable)}${unit}`;
  if (used === undefined) return capacity;
  const share = allocatable === 0 ? 0 : used / allocatable;
  const percent = Math.round(share * 100);
  const tone = share >= FULL ? 'bad' : share >= HIGH ? 'warn' : 'info';
  return h('div', { class: 'usage' }, [
    h('span', {}, [
      h('strong', {}, `${percent} %`),
      ' ',
      h('span', { class: 'muted' }, `${text(used)} of ${capacity}`),
    ]),
    h(
      'div',
      {
        class: 'bar',
        role: 'meter',
        'aria-label': label,
        'aria-valuenow': Math.min(100, percent),
        'aria-valuemin': 0,
        'aria-valuemax': 100,
        'aria-valuetext': `${percent} %`,
      },
      h('span', { 'data-tone': tone, style: { width: `${Math.min(100, percent)}%` } }),
    ),
  ]);
}

async function loadNodes(client: Client, isMeasured: boolean, signal: AbortSignal): Promise<Shown> {
  // Nodes with a problem come first.
  const page = await client.lists.page<Node>('nodes', { sortBy: 'status', limit: SHOWN }, { signal });
  const path = '/apis/metrics.k8s.io/v1beta1/nodes';
  const measured = isMeasured
    ? await client.kubernetes.get<NodeMetrics>(path, { signal }).catch(() => undefined)
    : undefined;
  return { page, ...usageOf(page, measured) };
}

function usageOf(page: ListPage<Node>, measured: NodeMetrics | undefined): Omit<Shown, 'page'> {
  if (measured) {
    const used = measured.items.map(
      ({ metadata, usage = {} }) =>
        [metadata.name, { cpu: quantityOf(usage['cpu']), memory: quantityOf(usage['memory']) }] as const,
    );
    return { source: 'measured', used: new Map(used) };
  }
  const used = page.items.map(({ metadata }) => [metadata.name, requestsIn(metadata.annotations)] as const);
  const isKnown = used.some(([, { cpu }]) => cpu !== undefined);
  return { source: isKnown ? 'requested' : 'unknown', used: new Map(isKnown ? used : []) };
}

/** The annotations of the option `resources.nodes.usageAnnotations`, whose prefix contains the name of the platform. */
function requestsIn(annotations: Readonly<Record<string, string>> = {}): Amounts {
  const valueOf = (end: string): number | undefined =>
    quantityOf(
      Object.entries(annotations).find(([name]) => name.startsWith('node.') && name.endsWith(end))?.[1],
    );
  return { cpu: valueOf('/cpu-requests'), memory: valueOf('/memory-requests') };
}
