// Tests of the printer columns of pods and nodes. The expected cells are those of kube-apiserver 1.36.
import { expect } from 'chai';
import { kindProfile } from '../../../../../server/resources/profiles/kind-profiles.ts';
import { type PlainObject, PODS, plain } from '../../../../support/platform/kind-cache.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
const CREATED = { creationTimestamp: '2026-01-01T00:00:00Z' };
const NODES = { ...PODS, plural: 'nodes', kind: 'Node', namespaced: false };

function row(kind: typeof PODS, object: PlainObject): { cells: unknown; conditions: unknown } {
  const profile = kindProfile(kind, 'platform.io');
  const facts = profile.facts(object);
  const identity = { ...{ key: 'a', name: 'a', namespace: '', uid: '', resourceVersion: '1' }, checksum: 0 };
  const printed = { ...identity, labels: {}, facts };
  return {
    cells: profile.columns()?.map((column) => column.cell(printed, NOW)),
    conditions: profile.conditions?.(printed),
  };
}

const RUNNING = { running: {} };
const container = (more: object): object => ({ name: 'c', ready: true, state: RUNNING, ...more });
const last = (finishedAt: string): object => ({ lastState: { terminated: { finishedAt } } });

interface State {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

const PRINTED: readonly (readonly [what: string, state: State, cells: string])[] = [
  ['without a status', {}, 'a 0/0 "" 0 60m <none> <none> <none> <none>'],
  [
    'that runs',
    {
      spec: { containers: [{}], nodeName: 'node-1' },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        podIPs: [{ ip: '10.0.0.1' }],
        containerStatuses: [container({ restartCount: 0 })],
      },
    },
    'a 1/1 Running 0 60m 10.0.0.1 node-1 <none> <none>',
  ],
  [
    'with restarts',
    {
      spec: { containers: [{}, {}] },
      status: {
        phase: 'Running',
        containerStatuses: [
          container({ restartCount: 2, ...last('2026-01-01T00:57:00Z') }),
          container({ restartCount: 3, ready: false, ...last('2026-01-01T00:50:00Z') }),
        ],
      },
    },
    'a 1/2 Running "5 (3m ago)" 60m <none> <none> <none> <none>',
  ],
  [
    'whose restarts have no time',
    { spec: { containers: [{}] }, status: { containerStatuses: [container({ restartCount: 2 })] } },
    'a 1/1 "" 2 60m <none> <none> <none> <none>',
  ],
  [
    'with a ready sidecar, whose init containers are complete',
    {
      spec: { containers: [{}], initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Initialized', status: 'True' }],
        initContainerStatuses: [
          { name: 'i', restartCount: 4, state: { terminated: { exitCode: 0 } } },
          {
            ...{ name: 's', restartCount: 1, started: true, ready: true, state: RUNNING },
            ...last('2026-01-01T00:59:00Z'),
          },
        ],
        containerStatuses: [container({ restartCount: 1 })],
      },
    },
    'a 2/2 Running "2 (60s ago)" 60m <none> <none> <none> <none>',
  ],
  [
    'that initializes',
    {
      spec: { containers: [{}], initContainers: [{ name: 'i' }, { name: 'j' }] },
      status: {
        phase: 'Pending',
        nominatedNodeName: 'node-2',
        initContainerStatuses: [
          { name: 'i', restartCount: 1, state: { terminated: { exitCode: 0 } } },
          {
            ...{ name: 'j', restartCount: 2, state: RUNNING },
            ...last('2026-01-01T00:00:30Z'),
          },
        ],
        containerStatuses: [container({ restartCount: 7 })],
      },
    },
    'a 0/1 Init:1/2 "3 (59m ago)" 60m <none> <none> node-2 <none>',
  ],
  [
    'with readiness gates',
    {
      spec: { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }, { conditionType: 'c' }] },
      status: {
        conditions: [
          { type: 'a', status: 'True' },
          { type: 'b', status: 'False' },
          { type: 'b', status: 'True' },
        ],
      },
    },
    'a 0/0 "" 0 60m <none> <none> <none> 1/3',
  ],
];

describe('the cells of a pod', () => {
  for (const [what, { metadata, spec, status }, cells] of PRINTED) {
    it(`${what} are those of kube-apiserver`, () => {
      const pod = plain('shop/a', 1, { ...CREATED, ...metadata }, { spec, status });
      const texts = Array.from(cells.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word);
      expect(row(PODS, pod).cells).to.deep.equal(texts);
    });
  }

  for (const [phase, message] of [
    ['Succeeded', 'The pod has completed successfully.'],
    ['Failed', 'The pod failed.'],
  ] as const) {
    it(`have a condition for the phase ${phase}`, () => {
      const { conditions } = row(PODS, plain('shop/a', 1, {}, { status: { phase } }));
      expect(conditions).to.deep.equal([{ type: 'Completed', status: 'True', reason: phase, message }]);
    });
  }
});

describe('the cells of a node', () => {
  it('are those of kube-apiserver', () => {
    const node = plain(
      'a',
      1,
      { ...CREATED, labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'db' } },
      {
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          nodeInfo: { kubeletVersion: 'v1.36.3', kernelVersion: '6.1', architecture: 'arm64' },
        },
      },
    );
    expect(row(NODES, node).cells).to.deep.equal([
      ...['a', 'Ready,SchedulingDisabled', 'db,worker', '60m', 'v1.36.3', '10.0.0.1', '<none>'],
      ...['<unknown>', '6.1 (arm64)', '<unknown>'],
    ]);
  });
});
