// The nodes with their capacity, and how much of it is used: measured, requested by pods, or unknown.
import {
  amountText,
  bytesText,
  type Client,
  fieldTerm,
  type NodeUsage,
  nodeUsages,
  StatusError,
  type Usage,
} from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { listURL, objectURL } from '../route.ts';
import { failure } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';
import { statusWord, textTable } from '../ui/values.ts';

const SHOWN = 12;
/** Pause between two requests, in ms. */
const REPEAT_MS = 10_000;
const METRICS = '/apis/metrics.k8s.io/v1beta1/nodes';
const COLUMNS = ['Node', 'Status', 'CPU', 'Memory', 'Pods'];

export function Nodes(): ComponentChildren {
  const { client, groups } = useExplore();
  const isMeasured = groups.has('metrics.k8s.io');
  const load = (signal: AbortSignal) => loadNodes(client, isMeasured, signal);
  const { value, error, retry } = useLoaded(load, [client, isMeasured], REPEAT_MS);
  // The counts of kinds say so already.
  if (error instanceof StatusError && error.code === 403) return null;
  const total = value?.total ?? 0;
  const allText = total > SHOWN ? `All ${total.toLocaleString()} nodes` : 'All nodes';
  return h('section', { class: 'nodes card', 'aria-label': 'Nodes', 'aria-busy': !value && !error }, [
    h('h2', {}, ['Nodes', h('a', { href: listURL('nodes') }, allText)]),
    error && failure(error, retry),
    value && [
      h('p', { class: 'muted' }, `${value.explanation} Problems first, then the busiest of these nodes.`),
      textTable('Table of nodes', COLUMNS, value.nodes.map(cellsOf)),
    ],
  ]);
}

async function loadNodes(client: Client, isMeasured: boolean, signal: AbortSignal) {
  const query = { sortBy: 'status', limit: SHOWN, columns: true };
  const page = await client.lists.page('nodes', query, { signal });
  const metrics = isMeasured && (await client.kubernetes.list(METRICS, { signal }).catch(() => undefined));
  const nodes = nodeUsages(page, metrics ? metrics.items : undefined);
  const isKnown = nodes.some(({ cpu }) => cpu.used !== undefined);
  const known = isKnown ? 'Requested by pods, of what pods can use: the' : 'What pods can use. The';
  const explanation = metrics ? 'Used now, of what pods can use.' : `${known} cluster measures no usage.`;
  return { total: page.totalItems, nodes, explanation };
}

function cellsOf({ name, status, cpu, memory, pods }: NodeUsage): readonly ComponentChildren[] {
  const href = listURL('pods', { fieldSelector: fieldTerm('spec.nodeName', name) });
  return [
    h('a', { href: objectURL('nodes', { name }) }, name),
    statusWord(status),
    meter(`cpu of ${name}`, cpu, amountText, ' cores'),
    meter(`memory of ${name}`, memory, bytesText),
    h('a', { href }, `≤ ${pods} pods`),
  ];
}

/** The shares from which on the bar is yellow and red. */
const TONES = { low: 0.8, high: 0.95, optimum: 0 };

function meter(
  label: string,
  { used, total, share }: Usage,
  text: (amount: number) => string,
  unit = '',
): ComponentChildren {
  if (total === undefined) return '–';
  if (used === undefined) return text(total) + unit;
  return [
    h('strong', {}, `${Math.round(share * 100)} %`),
    ' ',
    h('span', { class: 'muted' }, `${text(used)} of ${text(total)}${unit}`),
    h('meter', { 'aria-label': label, value: share, ...TONES }),
  ];
}
