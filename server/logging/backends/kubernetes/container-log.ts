// ContainerLog: the log of one run of a container. The kubelet serves only the current run and the previous run
// (`previous=true`).
import type { ContainerRun, ContainerSummary } from '../../../resources/profiles/container-runs.ts';
import { compareText, millisecondsOf } from '../../store/instant.ts';
import type { Instant } from '../../store/log-store.ts';
import type { PodSummary, Pods } from './pods.ts';

/** Value of `logging.store`, also used in errors. */
export const STORE = 'kubernetes';

export interface ContainerLog {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly node: string;
  /** Whether it is the log of the previous run (`previous=true` in the pod log API). */
  readonly previous: boolean;
  /** Whether the container still writes to it. */
  readonly running: boolean;
  readonly run: ContainerRun;
  /** Whether earlier runs exist whose logs the kubelet has deleted. */
  readonly predecessors: boolean;
}

export type ContainerName = Pick<ContainerLog, 'namespace' | 'pod' | 'container'>;

/** Tolerated clock difference between nodes, in ms. */
export const CLOCK_SLACK_MS = 60_000;

/** Sort order: by container, the previous run first. */
export function compareLogs(a: ContainerLog, b: ContainerLog): number {
  return compareContainers(a, b) || Number(b.previous) - Number(a.previous);
}

/** Sort order: by namespace, pod and container. */
export function compareContainers(a: ContainerName, b: ContainerName): number {
  return (
    compareText(a.namespace, b.namespace) ||
    compareText(a.pod, b.pod) ||
    compareText(a.container, b.container)
  );
}

/** `namespace/pod/container`, for messages. */
export function displayName({ namespace, pod, container }: ContainerName): string {
  return `${namespace}/${pod}/${container}`;
}

/** The logs of a container, the previous run first. */
export function logsOf(
  { namespace, name, node }: PodSummary,
  { name: container, running, restarts, current, previous }: ContainerSummary,
): ContainerLog[] {
  const common = { namespace, pod: name, container, node };
  const logs: ContainerLog[] = [];
  if (previous) {
    const predecessors = restarts > (current ? 1 : 0);
    logs.push({ ...common, previous: true, running: false, run: previous, predecessors });
  }
  if (current) {
    const predecessors = restarts > 0 && !previous;
    logs.push({ ...common, previous: false, running, run: current, predecessors });
  }
  return logs;
}

/** Whether the log can have lines at `begin` or later. */
export function mayReach({ run }: ContainerLog, begin: Instant): boolean {
  return run.finishedAt === undefined || run.finishedAt >= millisecondsOf(begin) - CLOCK_SLACK_MS;
}

/** Whether the container has restarted, so that the pod log API returns the log of another run. */
export function isReplaced({ previous, run, ...log }: ContainerLog, pods: Pick<Pods, 'get'>): boolean {
  const containers = pods.get(log.namespace, log.pod)?.containers;
  const container = containers?.find(({ name }) => name === log.container);
  const served = previous ? container?.previous : container?.current;
  // Undefined if the next run has not started: the kubelet still serves this log.
  return run.id !== '' && served !== undefined && served.id !== run.id;
}
