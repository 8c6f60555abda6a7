// What log queries need to know of a pod, and nothing else: there may be a hundred thousand of them.
import { record, recordIn, text } from '../../../../../apis/reading/unknown-value.ts';

/** One run of a container. Times are milliseconds since the epoch, undefined where the kubelet did not report them. */
export interface ContainerRun {
  /** The end of what the runtime calls it: long enough to be its own. */
  readonly id: string;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
}

export interface ContainerFacts {
  readonly name: string;
  readonly running: boolean;
  readonly restarts: number;
  /** Whose log the kubelet gives; undefined while there is none. */
  readonly current: ContainerRun | undefined;
  /** Whose log the kubelet gives when it is asked for the previous one. */
  readonly previous: ContainerRun | undefined;
}

export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Empty before it has one. */
  readonly node: string;
  readonly containers: readonly ContainerFacts[];
}

const KINDS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

const ID_LENGTH = 24;

/**
 * Undefined for what is no pod. Containers without a status have never written anything. `intern` gives names that
 * repeat one place in memory.
 */
export function readPod(object: unknown, intern = (name: string) => name): PodFacts | undefined {
  const { name, namespace, uid } = recordIn(object, 'metadata');
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined;
  const { nodeName } = recordIn(object, 'spec');
  const status = recordIn(object, 'status');
  const containers = KINDS.flatMap((kind) => {
    const statuses = status[kind];
    return Array.isArray(statuses)
      ? statuses.flatMap((one: unknown) => readContainer(one, intern) ?? [])
      : [];
  });
  // An array that has grown has spare room, which would be most of the memory.
  const exact = containers.slice();
  return {
    namespace: intern(namespace),
    name,
    uid: text(uid),
    node: typeof nodeName === 'string' ? intern(nodeName) : '',
    containers: exact,
  };
}

function readContainer(status: unknown, intern: (name: string) => string): ContainerFacts | undefined {
  const { name, restartCount, containerID } = record(status);
  if (typeof name !== 'string') return undefined;
  const state = recordIn(status, 'state');
  const previous = runIn(recordIn(status, 'lastState')['terminated']);
  const running = state['running'] !== undefined;
  const ended = runIn(state['terminated']);
  return {
    name: intern(name),
    running,
    restarts: typeof restartCount === 'number' ? restartCount : 0,
    current: running ? runIn(state['running'], containerID) : ownLog(ended, previous),
    previous,
  };
}

/** The kubelet gives the log of the previous run in place of one that could not start. */
function ownLog(ended: ContainerRun | undefined, previous: ContainerRun | undefined): typeof ended {
  return ended && (ended.id !== '' || !previous) ? ended : undefined;
}

function runIn(state: unknown, id?: unknown): ContainerRun | undefined {
  if (typeof state !== 'object' || state === null) return undefined;
  const { containerID = id, startedAt, finishedAt } = record(state);
  return {
    // A slice would hold on to the whole.
    id: typeof containerID === 'string' ? Buffer.from(containerID.slice(-ID_LENGTH)).toString() : '',
    startedAt: millisecondsIn(startedAt),
    finishedAt: millisecondsIn(finishedAt),
  };
}

function millisecondsIn(time: unknown): number | undefined {
  const milliseconds = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
