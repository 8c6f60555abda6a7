// Selection of container logs by the namespaces, workloads, pods and containers of a log query. Only namespaces that
// the caller may read are visited.
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { nameMatcher } from '../../matching/name-filter.ts';
import { workloadMatcher } from '../../matching/workload-names.ts';
import type { Selection } from '../../store/log-store.ts';
import { type ContainerLog, compareLogs, displayName, logsOf, mayReach } from './container-log.ts';
import { type PodSummary, type Pods, summaryOf } from './pods.ts';

interface SelectedLogs {
  /** Sorted by compareLogs(). */
  readonly logs: readonly ContainerLog[];
  readonly omitted: OmittedContainers;
}

/** Containers that are not read, because they exceed the maximum of a query. */
export interface OmittedContainers {
  readonly count: number;
  /** Up to five of them, as `namespace/pod/container`. */
  readonly names: readonly string[];
}

const MAX_NAMES = 5;
/** Containers that are collected above the maximum before the list is sorted and truncated. */
const SLACK = 1_024;

export interface PodFilter {
  namespace(name: string): boolean;
  pod(name: string): boolean;
  container(name: string): boolean;
}

export function podFilter(selection: Selection): PodFilter {
  const { scope } = selection;
  const allowed = scope.everything ? undefined : new Set(scope.namespaces.map(({ name }) => name));
  const namespace = nameMatcher(selection.namespaces);
  const pod = nameMatcher(selection.pods);
  const workload = workloadMatcher(selection.workloads);
  return {
    namespace: (name) => (allowed?.has(name) ?? true) && namespace(name),
    pod: (name) => pod(name) && workload(name),
    container: nameMatcher(selection.containers),
  };
}

/** Calls `visit` for each pod that matches the filter; time-sliced. */
export async function eachPod(
  pods: Pods,
  { scope }: Selection,
  filter: PodFilter,
  slices: TimeSlices,
  visit: (pod: PodSummary) => void,
): Promise<void> {
  const namespaces = scope.everything ? [''] : scope.namespaces.map(({ name }) => name);
  for (const namespace of namespaces) {
    if (slices.spent) await slices.next();
    if (namespace !== '' && !filter.namespace(namespace)) continue;
    for (const pod of pods.in(namespace)) {
      if (slices.spent) await slices.next();
      if (filter.pod(pod.name) && filter.namespace(pod.namespace)) visit(summaryOf(pod));
    }
  }
}

/**
 * Selects up to `maxContainers` containers, running ones first. Logs that end before the time range are not selected.
 */
export async function selectLogs(
  pods: Pods,
  selection: Selection,
  maxContainers: number,
  slices: TimeSlices,
): Promise<SelectedLogs> {
  const filter = podFilter(selection);
  const containers: ContainerLog[][] = [];
  const omitted = { count: 0, names: [] as string[] };
  const truncate = (): void => {
    containers.sort(runningFirst);
    const rest = containers.splice(maxContainers);
    omitted.count += rest.length;
    for (const [log] of rest.slice(0, MAX_NAMES - omitted.names.length)) {
      if (log) omitted.names.push(displayName(log));
    }
  };
  await eachPod(pods, selection, filter, slices, (pod) => {
    for (const container of pod.containers) {
      if (!filter.container(container.name)) continue;
      const logs = logsOf(pod, container).filter((log) => mayReach(log, selection.range.start));
      if (logs.length > 0) containers.push(logs);
      if (containers.length >= maxContainers + SLACK) truncate();
    }
  });
  truncate();
  return { logs: containers.flat().toSorted(compareLogs), omitted };
}

function runningFirst(a: readonly ContainerLog[], b: readonly ContainerLog[]): number {
  const [first, second] = [a.at(-1), b.at(-1)];
  if (!first || !second) return 0;
  return Number(second.running) - Number(first.running) || compareLogs(first, second);
}
