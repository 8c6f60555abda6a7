// Which logs a selection is about. Namespaces out of its scope are not even looked at.
import { Pacer } from '../../../../concurrency/pacer.ts';
import { millisecondsOf } from '../../../instant.ts';
import type { Instant, Selection } from '../../../log-store.ts';
import { nameMatcher } from '../../../matching/name-filter.ts';
import { workloadMatcher } from '../../../matching/workload-names.ts';
import { compareSources, type LogSource, nameOf } from './log-source.ts';
import type { ContainerFacts, PodFacts } from './pod-facts.ts';
import type { PodIndex } from './pod-index.ts';

export interface ChosenSources {
  /** Sorted by namespace, pod, container, and the earlier run first. */
  readonly sources: readonly LogSource[];
  readonly leftOut: LeftOut;
}

/** Containers that were left out, because there are more than may be read for one query. */
export interface LeftOut {
  readonly count: number;
  /** Of a few of them. */
  readonly names: readonly string[];
}

const NAMED = 5;
/** So many may gather before they are sorted out. */
const SLACK = 1_024;

/** Tells whether a log belongs to the selection, by names alone. */
export interface SourceFilter {
  namespace(name: string): boolean;
  pod(name: string): boolean;
  container(name: string): boolean;
}

export function sourceFilter(selection: Selection): SourceFilter {
  const { scope } = selection;
  const seen = scope.everything ? undefined : new Set(scope.namespaces.map(({ name }) => name));
  const namespace = nameMatcher(selection.namespaces);
  const pod = nameMatcher(selection.pods);
  const ofWorkload = workloadMatcher(selection.workloads);
  return {
    namespace: (name) => (seen?.has(name) ?? true) && namespace(name),
    pod: (name) => pod(name) && ofWorkload(name),
    container: nameMatcher(selection.containers),
  };
}

/** Calls `visit` for each pod of the selection: in slices of time, since there may be a hundred thousand to be looked at. */
export async function eachPod(
  pods: PodIndex,
  { scope }: Selection,
  filter: SourceFilter,
  visit: (pod: PodFacts) => void,
): Promise<void> {
  const pacer = new Pacer();
  const names = scope.everything ? [...pods.namespaces()] : scope.namespaces.map(({ name }) => name);
  for (const namespace of names) {
    if (pacer.spent) await pacer.breathe();
    if (!filter.namespace(namespace)) continue;
    for (const pod of pods.podsOf(namespace)) {
      if (pacer.spent) await pacer.breathe();
      if (filter.pod(pod.name)) visit(pod);
    }
  }
}

/** At most `maxContainers` containers, those that run before those that do not. Logs that ended before the range are none. */
export async function chooseSources(
  pods: PodIndex,
  selection: Selection,
  maxContainers: number,
): Promise<ChosenSources> {
  const filter = sourceFilter(selection);
  const chosen: LogSource[][] = [];
  const leftOut = { count: 0, names: [] as string[] };
  const prune = (): void => {
    chosen.sort(runningFirst);
    const rest = chosen.splice(maxContainers);
    leftOut.count += rest.length;
    for (const [first] of rest.slice(0, NAMED - leftOut.names.length)) {
      if (first) leftOut.names.push(nameOf(first));
    }
  };
  await eachPod(pods, selection, filter, (pod) => {
    for (const container of pod.containers) {
      if (!filter.container(container.name)) continue;
      const sources = sourcesOf(pod, container).filter((source) => reaches(source, selection.range.start));
      if (sources.length > 0) chosen.push(sources);
      if (chosen.length >= maxContainers + SLACK) prune();
    }
  });
  prune();
  return { sources: chosen.flat().toSorted(compareSources), leftOut };
}

/** How far the times of a node's containers may be off. */
const CLOCK_SLACK_MS = 60_000;

/** Whether the container may have written at `begin` or later. */
export function reaches({ run }: LogSource, begin: Instant): boolean {
  return run.finishedAt === undefined || run.finishedAt >= millisecondsOf(begin) - CLOCK_SLACK_MS;
}

export function sourcesOf(
  { namespace, name, node }: PodFacts,
  { name: container, running, restarts, current, previous }: ContainerFacts,
): LogSource[] {
  const common = { namespace, pod: name, container, node };
  const sources: LogSource[] = [];
  if (previous) {
    const predecessors = restarts > (current ? 1 : 0);
    sources.push({ ...common, previous: true, running: false, run: previous, predecessors });
  }
  if (current) {
    const predecessors = restarts > 0 && !previous;
    sources.push({ ...common, previous: false, running, run: current, predecessors });
  }
  return sources;
}

/** Whether another run of the container has come since the log was chosen. */
export function isReplaced({ previous, run, ...source }: LogSource, pods: Pick<PodIndex, 'get'>): boolean {
  const containers = pods.get(source.namespace, source.pod)?.containers;
  const now = containers?.find(({ name }) => name === source.container);
  const taking = previous ? now?.previous : now?.current;
  // Where the next run could not start, the kubelet still gives the log of this one.
  return run.id !== '' && taking !== undefined && taking.id !== run.id;
}

function runningFirst(a: readonly LogSource[], b: readonly LogSource[]): number {
  const [first, second] = [a.at(-1), b.at(-1)];
  if (!first || !second) return 0;
  return Number(second.running) - Number(first.running) || compareSources(first, second);
}
