// The containers of a pod and their runs, as log queries need them.
import { array, optionalTime, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';

/**
 * One run of a container, from a start to its termination. Times are in ms since the epoch; undefined if not reported.
 */
export interface ContainerRun {
  /** The container ID; empty if unknown. */
  readonly id: string;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
}

export interface ContainerSummary {
  readonly name: string;
  readonly running: boolean;
  readonly restarts: number;
  /** The run whose log the pod log API returns; undefined if there is no log. */
  readonly current: ContainerRun | undefined;
  /** The run whose log the pod log API returns with `previous=true`. */
  readonly previous: ContainerRun | undefined;
}

const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

/** Returns the containers of a pod. Containers without a status are omitted, because they have no log. */
export function containersOf(pod: unknown, intern: (name: string) => string): readonly ContainerSummary[] {
  const status = recordIn(pod, 'status');
  return STATUS_LISTS.flatMap((list) => array(status[list])).flatMap(
    (one) => parseContainer(one, intern) ?? [],
  );
}

function parseContainer(status: unknown, intern: (name: string) => string): ContainerSummary | undefined {
  const { name, restartCount, containerID } = record(status);
  if (typeof name !== 'string') return undefined;
  const state = recordIn(status, 'state');
  const previous = parseRun(recordIn(status, 'lastState')['terminated']);
  const running = state['running'] !== undefined;
  const ended = parseRun(state['terminated']);
  // A run without a container ID failed to start; the kubelet then returns the log of the previous run.
  const hasOwnLog = ended && (ended.id !== '' || !previous);
  return {
    name: intern(name),
    running,
    restarts: typeof restartCount === 'number' ? restartCount : 0,
    current: running ? parseRun(state['running'], containerID) : hasOwnLog ? ended : undefined,
    previous,
  };
}

function parseRun(state: unknown, id?: unknown): ContainerRun | undefined {
  if (typeof state !== 'object' || state === null) return undefined;
  const { containerID = id, startedAt, finishedAt } = record(state);
  return {
    id: text(containerID),
    startedAt: optionalTime(startedAt),
    finishedAt: optionalTime(finishedAt),
  };
}
