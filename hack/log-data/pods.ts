// Generates the pods of the log data set, and the lifetimes of their containers. log-data.ts generates the log
// lines.
import type { LogStyle } from './lines.ts';
import { NAMESPACES, RECREATED } from './namespaces.ts';
import { Random } from './random.ts';
import { podNames, WORKLOADS, type Workload } from './workloads.ts';

/** One run of a container; a restart has another ID. Times in ms since the epoch, `until` exclusive. */
export interface DataContainer {
  readonly name: string;
  readonly id: string;
  readonly image: string;
  readonly style: LogStyle;
  readonly from: number;
  readonly until: number;
  /** Whether it is running, so that the cluster has its log. */
  readonly current: boolean;
}

export interface DataPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly workload: Pick<Workload, 'kind' | 'name'>;
  readonly labels: Readonly<Record<string, string>>;
  readonly containers: readonly DataContainer[];
  /** Whether the pod exists in the cluster. */
  readonly exists: boolean;
}

export interface PodsOptions {
  readonly seed: number;
  readonly start: number;
  readonly end: number;
  /** Maximum workloads per namespace. */
  readonly workloads: number;
  readonly namespaces: number;
}

/** Pods exist for the whole time of the data set, except in the namespace that is recreated in the middle. */
export function dataPods(options: PodsOptions): DataPod[] {
  const { seed, start, end, namespaces } = options;
  const random = new Random(seed);
  const recreated = recreationTime(options);
  const chosen = [RECREATED, ...NAMESPACES.filter((name) => name !== RECREATED)].slice(0, namespaces);
  return chosen.flatMap((namespace) => {
    const workloads = chosenWorkloads(options.workloads, random);
    if (namespace !== RECREATED) return podsOf(namespace, workloads, { start, end, exists: true }, random);
    return [
      ...podsOf(namespace, workloads, { start, end: recreated, exists: false }, random),
      ...podsOf(namespace, workloads, { start: recreated, end, exists: true }, random),
    ];
  });
}

/** Creation time of the recreated namespace, in whole seconds as in Kubernetes. */
function recreationTime({ start, end }: Pick<PodsOptions, 'start' | 'end'>): number {
  return Math.floor((start + (end - start) * 0.4) / 1_000) * 1_000;
}

function chosenWorkloads(limit: number, random: Random): Workload[] {
  const first = random.below(WORKLOADS.length);
  const count = 1 + random.below(limit);
  return Array.from({ length: count }, (_, index) => {
    const workload = WORKLOADS[(first + index * 3) % WORKLOADS.length];
    if (workload === undefined) throw new Error('there is no such workload');
    return workload;
  });
}

interface Life {
  readonly start: number;
  readonly end: number;
  readonly exists: boolean;
}

function podsOf(namespace: string, workloads: readonly Workload[], life: Life, random: Random): DataPod[] {
  const minutes = Math.floor(life.end / 60_000);
  return workloads.flatMap((workload) => {
    const names = podNames(workload, minutes, random);
    // A rollout: in the middle, the last pod replaces the first one.
    const replaced = workload.kind === 'Deployment' && names.length > 2;
    const half = Math.floor((life.start + life.end) / 2);
    return names.map((name, index): DataPod => {
      const gone = replaced && index === 0;
      const late = replaced && index === names.length - 1;
      const own = {
        start: late ? half : life.start,
        end: gone ? half : life.end,
        exists: life.exists && !gone,
      };
      return {
        namespace,
        name,
        uid: random.uuid(),
        node: `worker-${random.below(20)}`,
        workload,
        labels: {
          app: workload.name,
          'app.kubernetes.io/name': workload.name,
          tier: index % 2 === 0 ? 'front' : 'back',
        },
        containers: workload.containers.flatMap(([container, style]) =>
          runsOf(container, style, own, random),
        ),
        exists: own.exists,
      };
    });
  });
}

/** One container in ten restarts once. */
function runsOf(name: string, style: LogStyle, life: Life, random: Random): DataContainer[] {
  const restart = random.chance(0.1) ? Math.floor(life.start + (life.end - life.start) * 0.7) : undefined;
  const image = `registry.example.com/library/${name}:1.${random.below(30)}.${random.below(9)}`;
  const run = (from: number, until: number): DataContainer => ({
    name,
    id: random.hex(64),
    image,
    style,
    from,
    until,
    current: life.exists && until === life.end,
  });
  if (restart === undefined) return [run(life.start, life.end)];
  return [run(life.start, restart), run(restart, life.end)];
}
