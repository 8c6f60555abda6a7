// The status of a pod as in kubectl's column STATUS, and the state of its containers.
// Source: printPod in pkg/printers/internalversion/printers.go of Kubernetes.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { secondsOf } from '../object-facts.ts';

type Fields = Readonly<Record<string, unknown>>;

interface ContainerState {
  readonly restarts: number;
  /** Time of the last termination in seconds since the epoch; 0 if there is none. */
  readonly restartedAt: number;
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

interface PodContainers {
  /** As in kubectl's column READY, for instance `1/2`. */
  readonly ready: string;
  /** Restarts of the containers that run now, as in kubectl's column RESTARTS. */
  readonly restarts: number;
  /** Time of the last restart in seconds since the epoch; 0 if there is none. */
  readonly restartedAt: number;
}

export function podContainers(object: unknown): PodContainers {
  const { inits, containers, total } = statesOf(object);
  const failed = inits.findIndex((state) => !isInitialized(state));
  // The init containers up to the current one.
  const reached = failed >= 0 ? inits.slice(0, failed + 1) : inits;
  const isInitializing = failed >= 0 && !hasCondition(recordIn(object, 'status'), 'Initialized');
  const counted = isInitializing ? reached : [...reached.filter(({ isSidecar }) => isSidecar), ...containers];
  const ready = reached.filter((state) => isReadySidecar(state)).length;
  const running = isInitializing ? 0 : containers.filter(isRunning).length;
  return {
    ready: `${ready + running}/${total}`,
    restarts: counted.reduce((sum, { restarts }) => sum + restarts, 0),
    // A spread of a hundred thousand states overflows the stack.
    restartedAt: counted.reduce((last, { restartedAt }) => Math.max(last, restartedAt), 0),
  };
}

/** Returns the true readiness gates of a pod, as in kubectl's column READINESS GATES. */
export function readinessGates(object: unknown): string {
  const gates = array(recordIn(object, 'spec')['readinessGates']).map(record);
  if (gates.length === 0) return '<none>';
  // A pod can have thousands of both. Of several conditions of one type, the first one counts.
  const conditions = conditionsOf(recordIn(object, 'status')).toReversed();
  const statuses = new Map(conditions.map(({ type, status }) => [type, status]));
  const open = gates.filter(({ conditionType }) => statuses.get(conditionType) === 'True');
  return `${open.length}/${gates.length}`;
}

function statesOf(object: unknown): {
  readonly inits: readonly ContainerState[];
  readonly containers: readonly ContainerState[];
  /** Number of containers and sidecars in `spec`. */
  readonly total: number;
} {
  const status = recordIn(object, 'status');
  const spec = recordIn(object, 'spec');
  const sidecars = new Set(
    array(spec['initContainers'])
      .map(record)
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => container['name']),
  );
  return {
    inits: array(status['initContainerStatuses']).map((one) => stateOf(record(one), sidecars)),
    containers: array(status['containerStatuses']).map((one) => stateOf(record(one), new Set())),
    total: array(spec['containers']).length + sidecars.size,
  };
}

function stateOf(status: Fields, sidecars: ReadonlySet<unknown>): ContainerState {
  const state = recordIn(status, 'state');
  const part = (name: string): Fields | undefined =>
    state[name] === undefined || state[name] === null ? undefined : record(state[name]);
  const { restartCount } = status;
  return {
    restarts: typeof restartCount === 'number' ? restartCount : 0,
    restartedAt: secondsOf(recordIn(recordIn(status, 'lastState'), 'terminated')['finishedAt']),
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

function isReadySidecar({ terminated, isSidecar, started, ready }: ContainerState): boolean {
  const isComplete = terminated !== undefined && exitCode(terminated) === 0;
  return isSidecar && started && ready && !isComplete;
}

function isRunning({ waiting, terminated, running, ready }: ContainerState): boolean {
  return text(waiting?.['reason']) === '' && !terminated && ready && running !== undefined;
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
  for (const { waiting, terminated } of containers.toReversed()) {
    const wait = text(waiting?.['reason']);
    if (wait !== '') word = wait;
    else if (terminated) {
      word = exitReason(terminated);
      if (exitCode(terminated) !== 0) failure = word;
    }
  }
  if (word !== 'Completed') return word;
  const hasRunning = containers.some(isRunning);
  if (hasRunning && isReady) return 'Running';
  return failure || (hasRunning ? 'NotReady' : word);
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
