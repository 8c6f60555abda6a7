// What is used of the nodes of a page: measured by metrics.k8s.io, requested by their pods, or unknown.
import type { KubernetesObject } from './kubernetes-object.ts';
import { statusOf } from './list-rows.ts';
import type { ListPage } from './lists.ts';
import { textAt } from './object-values.ts';
import { quantityOf } from './quantity.ts';

/** In cores or bytes; undefined if it is unknown. */
export interface Usage {
  readonly used: number | undefined;
  /** What pods can use. */
  readonly total: number | undefined;
  /** What is used of it, from 0 on; 0 if it is unknown. */
  readonly share: number;
}

export interface NodeUsage {
  readonly name: string;
  readonly status: string;
  readonly cpu: Usage;
  readonly memory: Usage;
  /** Maximum number of pods. */
  readonly pods: string;
}

/**
 * The nodes of a page that was requested with `columns: true`, in the order of their statuses, and then of their load.
 * `metrics`: the NodeMetrics of the cluster; without them, the requests that the server adds to nodes as annotations.
 */
export function nodeUsages(page: ListPage, metrics?: readonly KubernetesObject[]): readonly NodeUsage[] {
  const measured = new Map(metrics?.map((each) => [each.metadata.name, each]));
  const usageOf = (node: KubernetesObject, resource: string): Usage => {
    const measurement = textAt(measured.get(node.metadata.name), `usage.${resource}`);
    const used = quantityOf(metrics ? measurement : requestsOf(node, resource));
    const total = quantityOf(textAt(node, `status.allocatable.${resource}`));
    return { used, total, share: used && total ? used / total : 0 };
  };
  const nodes = page.items.map((node, index) => ({
    name: node.metadata.name,
    status: statusOf(page, index) ?? '',
    cpu: usageOf(node, 'cpu'),
    memory: usageOf(node, 'memory'),
    pods: textAt(node, 'status.allocatable.pods'),
  }));
  const statuses = nodes.map(({ status }) => status);
  const loadOf = ({ cpu, memory }: NodeUsage): number => Math.max(cpu.share, memory.share);
  return nodes.sort(
    (a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status) || loadOf(b) - loadOf(a),
  );
}

/** The name of the annotation has the domain of the platform: `node.platform.io/cpu-requests`. */
function requestsOf({ metadata }: KubernetesObject, resource: string): string | undefined {
  const annotations = Object.entries(metadata.annotations ?? {});
  return annotations.find(([key]) => key.startsWith('node.') && key.endsWith(`/${resource}-requests`))?.[1];
}
