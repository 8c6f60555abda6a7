// Tests of the status and restarts of a pod.
import { expect } from 'chai';
import { assert, jsonValue, property } from 'fast-check';
import { podRestarts, podStatus } from '../../../../../server/resources/profiles/pod-status.ts';

interface Container {
  readonly restartCount?: number;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly state?: object;
  readonly name?: string;
}

const waiting = (reason: string, restartCount = 0): Container => ({
  restartCount,
  state: { waiting: { reason } },
});
const terminated = (state: object, restartCount = 0): Container => ({
  restartCount,
  state: { terminated: { exitCode: 0, ...state } },
});
const running = (restartCount = 0, ready = true): Container => ({
  restartCount,
  ready,
  state: { running: {} },
});
const sidecar = (container: Container): Container => ({ ...container, name: 'sidecar' });
const condition = (type: string, status = 'True', more: object = {}): object => ({ type, status, ...more });

interface Case {
  readonly phase?: string;
  readonly reason?: string;
  readonly deleted?: boolean;
  readonly inits?: readonly Container[];
  readonly containers?: readonly Container[];
  readonly conditions?: readonly object[];
}

function pod({
  phase = 'Running',
  reason,
  deleted,
  inits = [],
  containers = [],
  conditions = [],
}: Case): object {
  return {
    metadata: deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {},
    spec: {
      initContainers: inits.map(({ name = 'init' }) => ({
        name,
        ...(name === 'sidecar' ? { restartPolicy: 'Always' } : {}),
      })),
      containers: containers.map(() => ({})),
    },
    status: {
      phase,
      ...(reason === undefined ? {} : { reason }),
      conditions,
      initContainerStatuses: inits.map((init) => ({ name: 'init', ...init })),
      containerStatuses: containers,
    },
  };
}

const READY = condition('Ready');
const INITIALIZED = condition('Initialized');
const COMPLETED = { reason: 'Completed' };

/** What kubectl prints in its columns STATUS and RESTARTS. */
const CASES: readonly [status: string, restarts: number, Case][] = [
  ['Pending', 0, { phase: 'Pending' }],
  ['Evicted', 0, { phase: 'Failed', reason: 'Evicted' }],
  [
    'SchedulingGated',
    0,
    { phase: 'Pending', conditions: [condition('PodScheduled', 'False', { reason: 'SchedulingGated' })] },
  ],
  [
    'Pending',
    0,
    { phase: 'Pending', conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable' })] },
  ],
  // Containers.
  ['Running', 6, { containers: [running(2), running(4)], conditions: [READY] }],
  ['Running', 0, { containers: [running(0, false)] }],
  ['ContainerCreating', 0, { phase: 'Pending', containers: [waiting('ContainerCreating')] }],
  ['CrashLoopBackOff', 9, { containers: [waiting('CrashLoopBackOff', 9)] }],
  ['Running', 0, { containers: [{ state: { waiting: {} } }] }],
  ['ImagePullBackOff', 0, { containers: [waiting('ImagePullBackOff'), waiting('ErrImagePull')] }],
  ['ErrImagePull', 0, { containers: [running(), waiting('ErrImagePull')] }],
  ['OOMKilled', 1, { containers: [terminated({ reason: 'OOMKilled', exitCode: 137 }, 1)] }],
  ['Signal:9', 0, { containers: [terminated({ signal: 9, exitCode: 137 })] }],
  ['ExitCode:3', 0, { containers: [terminated({ exitCode: 3 })] }],
  ['ExitCode:0', 0, { containers: [terminated({})] }],
  ['Completed', 0, { phase: 'Succeeded', containers: [terminated(COMPLETED)] }],
  ['Running', 0, { containers: [terminated(COMPLETED), running()], conditions: [READY] }],
  [
    'NotReady',
    0,
    { containers: [terminated(COMPLETED), running()], conditions: [condition('Ready', 'False')] },
  ],
  ['Error', 0, { containers: [terminated(COMPLETED), terminated({ reason: 'Error', exitCode: 1 })] }],
  ['Error', 0, { containers: [terminated({ reason: 'Error', exitCode: 1 }), terminated(COMPLETED)] }],
  ['Completed', 0, { containers: [terminated(COMPLETED), { ready: true, state: {} }] }],
  // Init containers.
  ['Init:0/2', 0, { phase: 'Pending', inits: [{ state: { running: {} } }, waiting('PodInitializing')] }],
  ['Init:1/2', 3, { phase: 'Pending', inits: [terminated({}, 1), waiting('PodInitializing', 2)] }],
  ['Init:CrashLoopBackOff', 5, { phase: 'Pending', inits: [waiting('CrashLoopBackOff', 5)] }],
  ['Init:Error', 0, { phase: 'Pending', inits: [terminated({ reason: 'Error', exitCode: 1 })] }],
  ['Init:Signal:9', 0, { phase: 'Pending', inits: [terminated({ signal: 9, exitCode: 137 })] }],
  ['Init:ExitCode:2', 0, { phase: 'Pending', inits: [terminated({ exitCode: 2 })] }],
  // Only the restarts of the init containers that were reached.
  [
    'Init:Error',
    3,
    { inits: [terminated({ reason: 'Error', exitCode: 1 }, 3), waiting('PodInitializing', 4)] },
  ],
  ['Running', 2, { inits: [terminated({}, 7)], containers: [running(2)], conditions: [READY] }],
  // The reason of an init container stays after the pod is initialized, until a container has one.
  [
    'Init:CrashLoopBackOff',
    2,
    { inits: [waiting('CrashLoopBackOff', 5)], containers: [running(2)], conditions: [INITIALIZED] },
  ],
  [
    'Error',
    0,
    {
      inits: [waiting('X')],
      containers: [terminated({ reason: 'Error', exitCode: 1 })],
      conditions: [INITIALIZED],
    },
  ],
  [
    'PodInitializing',
    0,
    { phase: 'Pending', inits: [terminated({})], containers: [waiting('PodInitializing')] },
  ],
  // Sidecars.
  ['Init:0/1', 4, { phase: 'Pending', inits: [sidecar({ ...running(4), started: false })] }],
  [
    'Running',
    5,
    { inits: [sidecar({ ...running(3), started: true })], containers: [running(2)], conditions: [READY] },
  ],
  [
    'Init:1/2',
    5,
    { inits: [sidecar({ ...running(3), started: true }), { restartCount: 2, state: { running: {} } }] },
  ],
  // Deleted pods.
  ['Terminating', 0, { deleted: true, containers: [running()], conditions: [READY] }],
  ['Terminating', 0, { deleted: true, phase: 'Pending', inits: [waiting('CrashLoopBackOff')] }],
  ['Completed', 0, { deleted: true, phase: 'Succeeded', containers: [terminated(COMPLETED)] }],
  ['Evicted', 0, { deleted: true, phase: 'Failed', reason: 'Evicted' }],
  ['Unknown', 0, { deleted: true, reason: 'NodeLost', containers: [running()] }],
];

describe('podStatus', () => {
  it('is the word of kubectl, with the restarts that kubectl counts', () => {
    const found = CASES.map(([, , given]) => [podStatus(pod(given)), podRestarts(pod(given)), given]);
    expect(found).to.deep.equal(CASES);
  });

  it('is empty for a pod without a phase, and read from any value', () => {
    expect(podStatus({})).to.equal('');
    assert(
      property(jsonValue(), jsonValue(), (value, other) => {
        const lists = { containerStatuses: value, initContainerStatuses: other, conditions: value };
        for (const object of [value, { status: value }, { status: lists, spec: { initContainers: value } }]) {
          expect(podStatus(object)).to.be.a('string');
          expect(podRestarts(object)).to.be.a('number');
        }
      }),
    );
  });
});
