// The status of a pod as in kubectl's column STATUS, and the number of restarts.
// Source: printPod in pkg/printers/internalversion/printers.go of Kubernetes.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';

type Fields = Readonly<Record<string, unknown>>;

interface ContainerState {
  readonly restarts: number;
  readonly ready: boolean;
  readonly started: boolean;
  readonly isSidecar: boolean;
  readonly waiting: Fields | undefined;
  readonly running: Fields | undefined;
  readonly terminated: Fields | undefined;
}

/** Returns the word, for instance `Running`, `Completed`, `CrashLoopBackOff`, `Init:0/2` or `Terminating`. */
export function podStatus(object: unknown): string {
  const status = recordIn(object, 'status');
  const phase = text(status['phase']);
  const isDeleted = recordIn(object, 'metadata')['deletionTimestamp'] !== undefined;
  if (isDeleted && text(status['reason']) === 'NodeLost') return 'Unknown';
  if (isDeleted && phase !== 'Failed' && phase !== 'Succeeded') return 'Terminating';
  const { inits, containers } = statesOf(object);
  const failedInit = initReason(inits, array(recordIn(object, 'spec')['initContainers']).length);
  if (failedInit !== undefined && !hasCondition(status, 'Initialized')) return failedInit;
  const general = isGated(status) ? 'SchedulingGated' : text(status['reason']) || phase;
  return containersReason(containers, failedInit ?? general, hasCondition(status, 'Ready'));
}

/** Returns the restarts of the containers that run now, as in kubectl's column RESTARTS. */
export function podRestarts(object: unknown): number {
  const status = recordIn(object, 'status');
  const { inits, containers } = statesOf(object);
  const sum = (states: readonly ContainerState[]): number =>
    states.reduce((total, { restarts }) => total + restarts, 0);
  const failed = inits.findIndex((state) => !isInitialized(state));
  // During initialization: the init containers up to the current one.
  if (failed >= 0 && !hasCondition(status, 'Initialized')) return sum(inits.slice(0, failed + 1));
  const reached = failed >= 0 ? inits.slice(0, failed + 1) : inits;
  return sum(reached.filter(({ isSidecar }) => isSidecar)) + sum(containers);
}

function statesOf(object: unknown): {
  readonly inits: readonly ContainerState[];
  readonly containers: readonly ContainerState[];
} {
  const status = recordIn(object, 'status');
  const sidecars = new Set(
    array(recordIn(object, 'spec')['initContainers'])
      .map(record)
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => container['name']),
  );
  return {
    inits: array(status['initContainerStatuses']).map((one) => stateOf(record(one), sidecars)),
    containers: array(status['containerStatuses']).map((one) => stateOf(record(one), new Set())),
  };
}

function stateOf(status: Fields, sidecars: ReadonlySet<unknown>): ContainerState {
  const state = recordIn(status, 'state');
  const part = (name: string): Fields | undefined =>
    state[name] === undefined || state[name] === null ? undefined : record(state[name]);
  const { restartCount } = status;
  return {
    restarts: typeof restartCount === 'number' ? restartCount : 0,
    ready: status['ready'] === true,
    started: status['started'] === true,
    isSidecar: sidecars.has(status['name']),
    waiting: part('waiting'),
    running: part('running'),
    terminated: part('terminated'),
  };
}

function isInitialized({ terminated, isSidecar, started }: ContainerState): boolean {
  return (terminated !== undefined && exitCode(terminated) === 0) || (isSidecar && started);
}

/** Returns the reason why the pod is not initialized; undefined if it is. */
function initReason(inits: readonly ContainerState[], total: number): string | undefined {
  const index = inits.findIndex((state) => !isInitialized(state));
  const state = inits[index];
  if (!state) return undefined;
  if (state.terminated) return `Init:${exitReason(state.terminated)}`;
  const waiting = text(state.waiting?.['reason']);
  if (waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`;
  return `Init:${index}/${total}`;
}

/** Returns the reason of the first container that has one, else `reason`. */
function containersReason(containers: readonly ContainerState[], reason: string, isReady: boolean): string {
  let word = reason;
  let failure = '';
  let isRunning = false;
  for (const { waiting, terminated, running, ready } of containers.toReversed()) {
    const wait = text(waiting?.['reason']);
    if (wait !== '') word = wait;
    else if (terminated) {
      word = exitReason(terminated);
      if (exitCode(terminated) !== 0) failure = word;
    } else if (ready && running) isRunning = true;
  }
  if (word !== 'Completed') return word;
  if (isRunning && isReady) return 'Running';
  return failure || (isRunning ? 'NotReady' : word);
}

function exitReason(terminated: Fields): string {
  const reason = text(terminated['reason']);
  if (reason !== '') return reason;
  const { signal } = terminated;
  return typeof signal === 'number' && signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode(terminated)}`;
}

function exitCode({ exitCode: code }: Fields): number {
  return typeof code === 'number' ? code : 0;
}

function conditionsOf(status: Fields): Fields[] {
  return array(status['conditions']).map(record);
}

function hasCondition(status: Fields, type: string): boolean {
  return conditionsOf(status).some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );
}

function isGated(status: Fields): boolean {
  return conditionsOf(status).some(
    (condition) => condition['type'] === 'PodScheduled' && condition['reason'] === 'SchedulingGated',
  );
}
