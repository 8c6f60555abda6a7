// Test data: pods with chosen and random states of their containers.

type Fields = Readonly<Record<string, unknown>>;

export interface PodState {
  readonly name: string;
  readonly spec: Fields;
  readonly status: Fields;
  readonly isDeleted: boolean;
  readonly isGated: boolean;
}

interface State {
  readonly state?: Fields;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
}

const TIME = '2026-01-02T03:04:05Z';
const IMAGE = 'registry.example.com/app:1';

const waiting = (reason: string, restartCount = 0): State => ({
  state: { waiting: { reason } },
  restartCount,
});
const running = (ready = true, restartCount = 0): State => ({
  state: { running: { startedAt: TIME } },
  ready,
  started: true,
  restartCount,
});
const terminated = (exitCode: number, reason = '', signal = 0, restartCount = 0): State => ({
  state: { terminated: { exitCode, reason, signal, startedAt: TIME, finishedAt: TIME } },
  restartCount,
});

interface PodOptions {
  readonly phase?: string;
  readonly reason?: string;
  readonly inits?: readonly State[];
  /** Indexes of init containers that are sidecars. */
  readonly sidecars?: readonly number[];
  readonly containers?: readonly State[];
  /** Types of true conditions. */
  readonly conditions?: readonly string[];
  readonly isDeleted?: boolean;
  readonly isGated?: boolean;
}

function pod(name: string, options: PodOptions): PodState {
  const { phase = 'Running', reason, inits = [], sidecars = [], containers = [], conditions = [] } = options;
  const nameOf = (kind: string, index: number): string => `${kind}-${index}`;
  const containerOf = (kind: string) => (_: State, index: number) => ({
    name: nameOf(kind, index),
    image: IMAGE,
    ...(kind === 'init' && sidecars.includes(index) ? { restartPolicy: 'Always' } : {}),
  });
  const statusOf = (kind: string) => (state: State, index: number) => ({
    name: nameOf(kind, index),
    image: IMAGE,
    imageID: '',
    ready: false,
    restartCount: 0,
    ...state,
  });
  const main = containers.length > 0 ? containers : [{}];
  return {
    name,
    isDeleted: options.isDeleted ?? false,
    isGated: options.isGated ?? false,
    spec: {
      nodeName: 'node',
      // With another policy, terminated containers could not be reported.
      restartPolicy: 'Never',
      ...(inits.length > 0 ? { initContainers: inits.map(containerOf('init')) } : {}),
      containers: main.map(containerOf('main')),
    },
    status: {
      phase,
      ...(reason === undefined ? {} : { reason }),
      conditions: conditions.map((type) => ({ type, status: 'True', lastTransitionTime: TIME })),
      initContainerStatuses: inits.filter(({ state }) => state).map(statusOf('init')),
      containerStatuses: containers.filter(({ state }) => state).map(statusOf('main')),
    },
  };
}

const done = terminated(0, 'Completed');
const ready = ['Initialized', 'Ready'];

/** Each status that kubectl prints for pods. */
export const CHOSEN: readonly PodState[] = [
  pod('pending', { phase: 'Pending' }),
  pod('gated', { phase: 'Pending', isGated: true }),
  pod('creating', { phase: 'Pending', containers: [waiting('ContainerCreating')] }),
  pod('pulling', { phase: 'Pending', containers: [waiting('ErrImagePull')] }),
  pod('backing-off', { phase: 'Pending', containers: [waiting('ImagePullBackOff'), running()] }),
  pod('crashing', { containers: [running(), waiting('CrashLoopBackOff', 17)], conditions: ['Initialized'] }),
  pod('running', { containers: [running(), running()], conditions: ready }),
  pod('restarted', { containers: [running(true, 3), running(true, 4)], conditions: ready }),
  pod('completed', { phase: 'Succeeded', containers: [done] }),
  pod('half-completed', { containers: [done, running()], conditions: ready }),
  pod('not-ready', { containers: [done, running()], conditions: ['Initialized'] }),
  pod('failed', { phase: 'Failed', containers: [terminated(1, 'Error')] }),
  pod('out-of-memory', { phase: 'Failed', containers: [terminated(137, 'OOMKilled', 9)] }),
  pod('signal', { phase: 'Failed', containers: [terminated(137, '', 9)] }),
  pod('exit-code', { phase: 'Failed', containers: [terminated(7)] }),
  pod('failed-first', { phase: 'Failed', containers: [done, terminated(2, 'Error')] }),
  pod('evicted', { phase: 'Failed', reason: 'Evicted' }),
  pod('unexpected', { phase: 'Failed', reason: 'UnexpectedAdmissionError' }),
  pod('unknown', { phase: 'Unknown' }),
  pod('lost', { reason: 'NodeLost', isDeleted: true }),
  pod('terminating', { containers: [running(true, 2)], conditions: ready, isDeleted: true }),
  pod('deleted-failed', { phase: 'Failed', containers: [terminated(1, 'Error')], isDeleted: true }),
  pod('init-0', { phase: 'Pending', inits: [running(false), {}], containers: [waiting('PodInitializing')] }),
  pod('init-1', { phase: 'Pending', inits: [done, waiting('PodInitializing')] }),
  pod('init-error', { phase: 'Pending', inits: [terminated(1, 'Error')] }),
  pod('init-signal', { phase: 'Pending', inits: [terminated(137, '', 9)] }),
  pod('init-exit-code', { phase: 'Pending', inits: [terminated(3)] }),
  pod('init-crashing', { phase: 'Pending', inits: [done, waiting('CrashLoopBackOff', 5)] }),
  pod('sidecar', {
    inits: [running(true, 6)],
    sidecars: [0],
    containers: [running(true, 1)],
    conditions: ready,
  }),
  pod('sidecar-waits', { phase: 'Pending', inits: [waiting('CrashLoopBackOff', 2)], sidecars: [0] }),
];

/** A generator of numbers from 0 to 1, the same ones in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomPods(count: number): PodState[] {
  const random = randomFrom(24);
  const below = (limit: number): number => Math.floor(random() * limit);
  const one = <Value>(...values: readonly [Value, ...Value[]]): Value =>
    values[below(values.length)] ?? values[0];
  const state = (): State =>
    one<() => State>(
      () => ({}),
      () =>
        waiting(
          one('CrashLoopBackOff', 'PodInitializing', 'ContainerCreating', 'ErrImagePull', ''),
          below(9),
        ),
      () => running(random() < 0.6, below(9)),
      () => ({ ...running(true, below(9)), started: random() < 0.5 }),
      () => terminated(one(0, 1, 137), one('', 'Completed', 'Error'), one(0, 9), below(9)),
      () => ({ ...done, restartCount: below(9) }),
    )();
  const states = (least: number, most: number): State[] =>
    Array.from({ length: least + below(most - least + 1) }, state);
  return Array.from({ length: count }, (_, index) => {
    const inits = states(0, 3);
    return pod(`random-${index}`, {
      phase: one('Pending', 'Running', 'Running', 'Succeeded', 'Failed', 'Unknown'),
      inits,
      sidecars: inits.map((_state, at) => at).filter(() => random() < 0.3),
      containers: states(1, 3),
      conditions: ['Initialized', 'Ready', 'PodScheduled'].filter(() => random() < 0.4),
      isDeleted: random() < 0.1,
      ...(random() < 0.1 ? { reason: one('NodeLost', 'Evicted', 'NodeAffinity') } : {}),
    });
  });
}

/** The chosen states, and random ones. */
export const PODS: readonly PodState[] = [...CHOSEN, ...randomPods(150)];
