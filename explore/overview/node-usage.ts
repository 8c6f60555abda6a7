// The nodes with their capacity, and how much of it is used: measured, requested by pods, or unknown.
import { type Client, type KubernetesObject, type ListPage, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { bytesText, quantityOf, shortText } from '../quantity.ts';
import { link, listRoute, objectRoute } from '../route.ts';
import { Failure } from '../ui/notice.ts';
import { TextTable } from '../ui/text-table.ts';
import { useLoaded } from '../ui/use-live.ts';

type Quantities = Readonly<Record<string, string | undefined>>;

interface Node extends KubernetesObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly allocatable?: Quantities;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface NodeMetrics {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly usage?: Quantities }[];
}

interface Usage {
  readonly explanation: string;
  /** The used CPU and memory, by the names of the nodes. */
  readonly used: ReadonlyMap<string, Quantities>;
}

const SHOWN = 12;
/** Pause between two requests, in ms. */
const REPEAT_MS = 10_000;
const COLUMNS = ['Node', 'CPU', 'Memory', 'Pods at most'];

export function NodeUsage(): ComponentChildren {
  const { client, groups } = useExplore();
  const isMeasured = groups.has('metrics.k8s.io');
  const load = (signal: AbortSignal) => loadNodes(client, isMeasured, signal);
  const { value: shown, error, retry } = useLoaded(load, [client, isMeasured], REPEAT_MS);
  // The counts of kinds say so already.
  if (error instanceof StatusError && error.code === 403) return null;
  const total = shown?.page.totalItems ?? 0;
  const allText = total > SHOWN ? `All ${total.toLocaleString()} nodes` : 'All nodes';
  return h('section', { class: 'nodes card', 'aria-labelledby': 'nodes', 'aria-busy': !shown && !error }, [
    h('h2', { id: 'nodes' }, ['Nodes', h('a', link(listRoute('nodes')), allText)]),
    error && h(Failure, { error, retry }),
    shown && [
      h('p', { class: 'muted' }, shown.explanation),
      h(TextTable, {
        label: 'Table of nodes',
        names: COLUMNS,
        rows: shown.page.items.map((node) => cellsOf(node, shown.used.get(node.metadata.name) ?? {})),
      }),
    ],
  ]);
}

function cellsOf({ metadata: { name }, spec, status }: Node, used: Quantities): ComponentChildren[] {
  const { allocatable = {}, conditions = [] } = status ?? {};
  const isReady = conditions.some((each) => each.type === 'Ready' && each.status === 'True');
  const state = isReady ? (spec?.unschedulable ? 'Ready, unschedulable' : 'Ready') : 'Not ready';
  const pods = listRoute('pods', { fieldSelector: `spec.nodeName=${name}` });
  const amounts = (resource: string) => ({
    ...{ label: `${resource} of ${name}`, used: used[resource], total: allocatable[resource] },
  });
  return [
    [
      h('a', link(objectRoute('nodes', { name })), name),
      h('span', { class: 'status caption', 'data-tone': isReady ? 'good' : 'bad' }, state),
    ],
    h(Meter, { ...amounts('cpu'), text: shortText, unit: ' cores' }),
    h(Meter, { ...amounts('memory'), text: bytesText }),
    [`${allocatable['pods'] ?? '–'} `, h('a', link(pods), 'Show pods')],
  ];
}

interface MeterProps {
  readonly label: string;
  readonly used: string | undefined;
  readonly total: string | undefined;
  readonly text: (amount: number) => string;
  readonly unit?: string;
}

/** The shares from which on the bar is yellow and red. */
const TONES = { low: 0.8, high: 0.95, optimum: 0 };

function Meter({ label, used, total, text, unit = '' }: MeterProps): ComponentChildren {
  const [amount, capacity] = [quantityOf(used), quantityOf(total)];
  if (capacity === undefined) return '–';
  if (amount === undefined) return text(capacity) + unit;
  const share = capacity === 0 ? 0 : amount / capacity;
  return [
    h('strong', { class: 'number' }, `${Math.round(share * 100)} %`),
    h('span', { class: 'muted' }, ` ${text(amount)} of ${text(capacity)}${unit}`),
    h('meter', { 'aria-label': label, value: share, ...TONES }),
  ];
}

async function loadNodes(
  client: Client,
  isMeasured: boolean,
  signal: AbortSignal,
): Promise<Usage & { readonly page: ListPage<Node> }> {
  // Nodes with a problem come first.
  const page = await client.lists.page<Node>('nodes', { sortBy: 'status', limit: SHOWN }, { signal });
  const path = '/apis/metrics.k8s.io/v1beta1/nodes';
  const measured = isMeasured
    ? await client.kubernetes.get<NodeMetrics>(path, { signal }).catch(() => undefined)
    : undefined;
  return { page, ...(measured ? measuredUsage(measured) : requestedUsage(page)) };
}

function measuredUsage({ items }: NodeMetrics): Usage {
  const used = new Map(items.map(({ metadata, usage = {} }) => [metadata.name, usage]));
  return { explanation: 'Used now, of what pods can use.', used };
}

/** The annotations of the option `resources.nodes.usageAnnotations`, whose prefix contains the name of the platform. */
const REQUESTS = /^node\..*\/(cpu|memory)-requests$/;

function requestedUsage({ items }: ListPage<Node>): Usage {
  const used = new Map(
    items.map(({ metadata: { name, annotations = {} } }) => {
      const requests = Object.entries(annotations).map(([key, value]) => [REQUESTS.exec(key)?.[1], value]);
      return [name, Object.fromEntries(requests)];
    }),
  );
  const isKnown = [...used.values()].some(({ cpu }) => cpu !== undefined);
  const known = isKnown ? 'Requested by pods, of what pods can use: the' : 'What pods can use. The';
  return { explanation: `${known} cluster measures no usage.`, used };
}
