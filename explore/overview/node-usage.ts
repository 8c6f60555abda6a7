// The nodes with their capacity, and how much of it is used: measured, requested by pods, or unknown.
import {
  amountText,
  bytesText,
  type Client,
  fieldTerm,
  type KubernetesObject,
  type ListPage,
  quantityOf,
  StatusError,
  statusOf,
  textAt,
} from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { platformName } from '../page.ts';
import { listURL, objectURL } from '../route.ts';
import { failure } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';
import { statusWord, textTable } from '../ui/values.ts';

/** Returns the used quantity of a resource of a node, such as `3920m`. */
type UsedOf = (node: KubernetesObject, resource: string) => string | undefined;

interface Nodes {
  readonly page: ListPage;
  readonly explanation: string;
  readonly usedOf: UsedOf;
}

const SHOWN = 12;
/** Pause between two requests, in ms. */
const REPEAT_MS = 10_000;
const METRICS = '/apis/metrics.k8s.io/v1beta1/nodes';
const COLUMNS = ['Node', 'Status', 'CPU', 'Memory', 'Pods'];

export function NodeUsage(): ComponentChildren {
  const { client, groups } = useExplore();
  const isMeasured = groups.has('metrics.k8s.io');
  const load = (signal: AbortSignal) => loadNodes(client, isMeasured, signal);
  const { value: nodes, error, retry } = useLoaded(load, [client, isMeasured], REPEAT_MS);
  // The counts of kinds say so already.
  if (error instanceof StatusError && error.code === 403) return null;
  const total = nodes?.page.totalItems ?? 0;
  const allText = total > SHOWN ? `All ${total.toLocaleString()} nodes` : 'All nodes';
  return h('section', { class: 'nodes card', 'aria-label': 'Nodes', 'aria-busy': !nodes && !error }, [
    h('h2', {}, ['Nodes', h('a', { href: listURL('nodes') }, allText)]),
    error && failure(error, retry),
    nodes && [
      h('p', { class: 'muted' }, `${nodes.explanation} Nodes with a problem come first.`),
      textTable('Table of nodes', COLUMNS, rowsOf(nodes)),
    ],
  ]);
}

/** In the order of their statuses, and of their load. */
function rowsOf({ page, usedOf }: Nodes): readonly ComponentChildren[][] {
  const nodes = page.items.map((node, index) => {
    const [cpu, memory] = ['cpu', 'memory'].map((resource) => ({
      label: `${resource} of ${node.metadata.name}`,
      used: quantityOf(usedOf(node, resource)),
      total: quantityOf(textAt(node, `status.allocatable.${resource}`)),
    }));
    const load = Math.max(shareOf(cpu), shareOf(memory));
    return { node, status: statusOf(page, index) ?? '', cpu, memory, load };
  });
  const statuses = nodes.map(({ status }) => status);
  nodes.sort((a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status) || b.load - a.load);
  return nodes.map(({ node, status, cpu, memory }) => {
    const { name } = node.metadata;
    const pods = listURL('pods', { fieldSelector: fieldTerm('spec.nodeName', name) });
    return [
      h('a', { href: objectURL('nodes', { name }) }, name),
      statusWord(status),
      meter(cpu, amountText, ' cores'),
      meter(memory, bytesText),
      h('a', { href: pods }, `At most ${textAt(node, 'status.allocatable.pods')} pods`),
    ];
  });
}

interface Usage {
  readonly label: string;
  readonly used: number | undefined;
  readonly total: number | undefined;
}

function shareOf({ used = 0, total = 0 }: Partial<Usage> = {}): number {
  return total === 0 ? 0 : used / total;
}

/** The shares from which on the bar is yellow and red. */
const TONES = { low: 0.8, high: 0.95, optimum: 0 };

function meter(usage: Usage | undefined, text: (amount: number) => string, unit = ''): ComponentChildren {
  if (usage?.total === undefined) return '–';
  const { label, used, total } = usage;
  if (used === undefined) return text(total) + unit;
  const share = shareOf(usage);
  return [
    h('strong', {}, `${Math.round(share * 100)} %`),
    h('span', { class: 'muted' }, ` ${text(used)} of ${text(total)}${unit}`),
    h('meter', { 'aria-label': label, value: share, ...TONES }),
  ];
}

async function loadNodes(client: Client, isMeasured: boolean, signal: AbortSignal): Promise<Nodes> {
  const query = { sortBy: 'status', limit: SHOWN, columns: true };
  const page = await client.lists.page('nodes', query, { signal });
  const metrics = isMeasured && (await client.kubernetes.list(METRICS, { signal }).catch(() => undefined));
  if (metrics) {
    const measured = new Map(metrics.items.map((item) => [item.metadata.name, item]));
    const usedOf: UsedOf = ({ metadata }, resource) =>
      textAt(measured.get(metadata.name), `usage.${resource}`);
    return { page, usedOf, explanation: 'Used now, of what pods can use.' };
  }
  // The option `resources.nodes.usageAnnotations` adds them.
  const usedOf: UsedOf = ({ metadata }, resource) =>
    metadata.annotations?.[`node.${platformName()}.io/${resource}-requests`];
  const isKnown = page.items.some((node) => usedOf(node, 'cpu') !== undefined);
  const known = isKnown ? 'Requested by pods, of what pods can use: the' : 'What pods can use. The';
  return { page, usedOf, explanation: `${known} cluster measures no usage.` };
}
