// Tests of the status of objects of all kinds except nodes.
import { expect } from 'chai';
import { assert, constantFrom, jsonValue, property } from 'fast-check';
import type { Kind } from '../../../../../server/resources/kind.ts';
import { podContainers, readinessGates } from '../../../../../server/resources/profiles/pod-status.ts';
import { statusesOf, statusOf } from '../../../../../server/resources/profiles/status-words.ts';

const kind = (name: string, custom?: Kind['custom']): Kind => {
  const [plural = '', ...group] = name.split('.');
  return { group: group.join('.'), version: 'v1', plural, kind: plural, namespaced: true, custom };
};
const WIDGETS = kind('widgets.example.com', {
  revision: '1',
  listKind: 'WidgetList',
  columns: [],
  selectableFields: [],
});

const condition = (type: string, status = 'True', reason = ''): object => ({ type, status, reason });
const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' };

function word(of: Kind | string, object: object): string {
  const [status = '', ...more] = statusOf(typeof of === 'string' ? kind(of) : of)(object);
  expect(more).to.deep.equal([]);
  return status;
}

interface Workload {
  readonly replicas?: number;
  readonly generation?: number;
  readonly status?: object;
  /** Members of `spec` besides `replicas`. */
  readonly spec?: object;
}

/** A workload whose controller has processed generation 2. */
const workload = ({ replicas, generation = 2, status = {}, spec = {} }: Workload): object => ({
  metadata: { generation },
  spec: replicas === undefined ? spec : { ...spec, replicas },
  status: { observedGeneration: 2, ...status },
});

const ROLLED_OUT = condition('Progressing', 'True', 'NewReplicaSetAvailable');
const ROLLING_OUT = condition('Progressing', 'True', 'ReplicaSetUpdated');
const full = (count: number): object => ({
  replicas: count,
  updatedReplicas: count,
  readyReplicas: count,
  availableReplicas: count,
});

const PAUSED = { paused: true };
const ON_DELETE = { updateStrategy: { type: 'OnDelete' } };
const partition = (of: number): object => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: of } },
});
/** Of three replicas, `updated` have the new revision and `available` are available. */
const revisions = (updated: number, available = 3): object => ({
  replicas: 3,
  readyReplicas: available,
  availableReplicas: available,
  currentRevision: 'a',
  updateRevision: 'b',
  updatedReplicas: updated,
  currentReplicas: 3 - updated,
});

const daemons = (desired: number, current?: number, updated?: number, available?: number): object => ({
  desiredNumberScheduled: desired,
  currentNumberScheduled: current,
  updatedNumberScheduled: updated,
  numberAvailable: available,
});

const WORKLOADS: Readonly<Record<string, readonly [status: string, Workload][]>> = {
  'deployments.apps': [
    ['available', { replicas: 3, status: full(3) }],
    // One replica by default.
    ['available', { status: full(1) }],
    ['progressing', { replicas: 3, generation: 3, status: full(3) }],
    ['stopped', { replicas: 0 }],
    ['progressing', { replicas: 0, status: { replicas: 1 } }],
    ['progressing', { replicas: 3, status: { ...full(3), updatedReplicas: 2 } }],
    ['progressing', { replicas: 3, status: { ...full(3), replicas: 4 } }],
    ['progressing', { replicas: 3, status: { ...full(3), availableReplicas: 1, conditions: [ROLLING_OUT] } }],
    ['degraded', { replicas: 3, status: { ...full(3), availableReplicas: 1, conditions: [ROLLED_OUT] } }],
    ['degraded', { replicas: 3, status: { ...full(3), conditions: [condition('Progressing', 'False')] } }],
    ['degraded', { replicas: 3, status: { conditions: [condition('ReplicaFailure')] } }],
    ['available', { replicas: 3, spec: PAUSED, status: { ...full(3), updatedReplicas: 0 } }],
    ['available', { replicas: 3, spec: PAUSED, status: { ...full(3), replicas: 4, availableReplicas: 4 } }],
    [
      'degraded',
      { replicas: 3, spec: PAUSED, status: { ...full(3), updatedReplicas: 0, availableReplicas: 1 } },
    ],
    ['degraded', { replicas: 3, spec: PAUSED }],
    ['stopped', { replicas: 0, spec: PAUSED }],
    ['progressing', { replicas: 3, generation: 3, spec: PAUSED, status: full(3) }],
  ],
  'statefulsets.apps': [
    ['available', { replicas: 3, status: full(3) }],
    ['available', { status: { replicas: 1, readyReplicas: 1 } }],
    ['progressing', { replicas: 3, generation: 3, status: full(3) }],
    ['stopped', { replicas: 0 }],
    ['progressing', { replicas: 0, status: { replicas: 1 } }],
    ['progressing', { replicas: 3, status: { ...full(3), currentRevision: 'a', updateRevision: 'b' } }],
    ['available', { replicas: 3, status: { ...full(3), currentRevision: 'a', updateRevision: 'a' } }],
    ['progressing', { replicas: 3, status: full(2) }],
    ['degraded', { replicas: 3, status: { ...full(3), availableReplicas: 2 } }],
    ['available', { replicas: 3, spec: ON_DELETE, status: revisions(0) }],
    ['available', { replicas: 3, spec: ON_DELETE, status: revisions(3) }],
    ['degraded', { replicas: 3, spec: ON_DELETE, status: revisions(1, 2) }],
    ['progressing', { replicas: 4, spec: ON_DELETE, status: revisions(1) }],
    ['progressing', { replicas: 3, spec: partition(0), status: revisions(2) }],
    ['progressing', { replicas: 3, spec: partition(0), status: revisions(3, 2) }],
    ['progressing', { replicas: 3, spec: partition(1), status: revisions(1) }],
    ['available', { replicas: 3, spec: partition(1), status: revisions(2) }],
    ['degraded', { replicas: 3, spec: partition(1), status: revisions(2, 2) }],
    ['available', { replicas: 3, spec: partition(3), status: revisions(0) }],
    ['degraded', { replicas: 3, spec: partition(9), status: revisions(0, 0) }],
    ['available', { replicas: 3, spec: { updateStrategy: null }, status: full(3) }],
  ],
  'daemonsets.apps': [
    ['available', { status: daemons(2, 2, 2, 2) }],
    ['stopped', { status: daemons(0) }],
    ['progressing', { generation: 3, status: daemons(0) }],
    ['progressing', { status: daemons(2, 1) }],
    ['progressing', { status: daemons(1, 1) }],
    ['degraded', { status: daemons(1, 1, 1) }],
    ['available', { spec: ON_DELETE, status: daemons(2, 2, 0, 2) }],
    ['degraded', { spec: ON_DELETE, status: daemons(2, 2, 0, 1) }],
    ['progressing', { spec: ON_DELETE, status: daemons(2, 1, 0, 1) }],
    ['progressing', { spec: ON_DELETE, generation: 3, status: daemons(2, 2, 0, 2) }],
  ],
  'replicasets.apps': [
    ['available', { replicas: 2, status: full(2) }],
    ['progressing', { replicas: 2, status: full(1) }],
    ['progressing', { replicas: 2, generation: 3, status: full(2) }],
    ['stopped', { replicas: 0 }],
    ['progressing', { replicas: 0, status: { replicas: 1 } }],
    ['degraded', { replicas: 2, status: { ...full(2), availableReplicas: 1 } }],
    ['degraded', { replicas: 2, status: { conditions: [condition('ReplicaFailure')] } }],
  ],
};

describe('the status of', () => {
  for (const [name, cases] of Object.entries(WORKLOADS)) {
    it(`${name} is available, progressing, degraded, stopped or terminating`, () => {
      const found = cases.map(([, given]) => [word(name, workload(given)), given]);
      expect(found).to.deep.equal(cases);
      const deleted = cases.map(([, given]) => word(name, { ...workload(given), metadata: DELETED }));
      expect(new Set(deleted)).to.deep.equal(new Set(['terminating']));
      expect(statusesOf(kind(name))).to.include.members(cases.map(([status]) => status));
    });
  }

  it('jobs is that of their end, also in deletion', () => {
    const complete = { metadata: DELETED, status: { conditions: [condition('Complete')] } };
    expect(word('jobs.batch', complete)).to.equal('Complete');
  });

  it('cronjobs is Terminating in deletion', () => {
    expect(word('cronjobs.batch', { spec: { suspend: true } })).to.equal('Suspended');
    expect(word('cronjobs.batch', { metadata: DELETED, spec: { suspend: true } })).to.equal('Terminating');
  });

  it('custom resources is the state of the condition that means that they work', () => {
    const of = (...conditions: object[]): object => ({ status: { conditions, phase: 'Going' } });
    expect(word(WIDGETS, of(condition('Ready')))).to.equal('Ready');
    expect(word(WIDGETS, of(condition('Ready', 'False')))).to.equal('NotReady');
    expect(word(WIDGETS, of(condition('Ready', 'Unknown')))).to.equal('Unknown');
    expect(word(WIDGETS, of(condition('Available', 'False'), condition('Ready')))).to.equal('Ready');
    expect(word(WIDGETS, of(condition('Available', 'False')))).to.equal('NotAvailable');
    expect(word(WIDGETS, of(condition('Other')))).to.equal('Going');
    expect(word(WIDGETS, { ...of(condition('Ready')), metadata: DELETED })).to.equal('Terminating');
  });

  it('other kinds is empty without conditions and phase', () => {
    expect(statusOf(kind('configmaps'))({ data: {} })).to.deep.equal([]);
    expect(statusesOf(kind('configmaps'))).to.equal(undefined);
  });

  it('a custom resource does not depend on a built-in kind of the same name', () => {
    const pods = kind('pods', WIDGETS.custom);
    expect(word(pods, { status: { phase: 'Running', reason: 'Evicted' } })).to.equal('Running');
  });

  it('pods reads each condition once for all readiness gates, and of several of one type the first', () => {
    let reads = 0;
    const conditions = Array.from({ length: 100 }, (_, i) => ({
      get type() {
        reads++;
        return `example.com/${i % 90}`;
      },
      status: i < 90 ? 'True' : 'False',
    }));
    const gates = Array.from({ length: 100 }, (_, i) => ({ conditionType: `example.com/${i}` }));
    expect(readinessGates({ spec: { readinessGates: gates }, status: { conditions } })).to.equal('90/100');
    expect(reads).to.equal(100);
  });

  it('the restarts of any number of containers are read', () => {
    const containerStatuses = Array.from({ length: 200_000 }, () => ({ restartCount: 1 }));
    expect(podContainers({ status: { containerStatuses } }).restarts).to.equal(200_000);
  });

  it('any value is read without an error', () => {
    const names = ['pods', 'jobs.batch', 'cronjobs.batch', 'events', 'configmaps', ...Object.keys(WORKLOADS)];
    assert(
      property(constantFrom(...names), jsonValue(), (name, value) => {
        const containers = { containerStatuses: value, initContainerStatuses: value, conditions: value };
        for (const object of [
          value,
          { status: value, spec: value, metadata: value },
          { status: containers, spec: { initContainers: value } },
        ]) {
          expect(statusOf(kind(name))(object)).to.be.an('array');
          expect(podContainers(object).restarts).to.be.a('number');
        }
      }),
    );
  });
});
