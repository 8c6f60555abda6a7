// Tests of `status` and `sortBy=restarts` against the tables that kube-apiserver prints.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { forEach } from '../../../../hack/simulation/bulk.ts';
import { PODS } from '../../../support/platform/pod-states.ts';
import { type Caller, type Fields, type ResourceCluster, type Server } from './resource-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const execFileAsync = promisify(execFile);
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const TIME = '2026-01-02T03:04:05Z';
const FINALIZERS = ['example.com/keep'];

const conditions = (...types: readonly string[]) => ({
  conditions: types.map((type) => ({ type, status: 'True', reason: 'Test', lastTransitionTime: TIME })),
});

const READY = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
};
const REVISIONS = { ...READY, currentRevision: 'a', updateRevision: 'b', updatedReplicas: 1 };
const DAEMONS = {
  observedGeneration: 1,
  currentNumberScheduled: 3,
  desiredNumberScheduled: 3,
  numberMisscheduled: 0,
  numberReady: 3,
  updatedNumberScheduled: 3,
  numberAvailable: 3,
};
const strategy = (type: string, partition?: number): Fields => ({
  updateStrategy: { type, ...(partition === undefined ? {} : { rollingUpdate: { partition } }) },
});
const progressing = (status: string, reason: string): Fields => ({
  conditions: [{ type: 'Progressing', status, reason, lastTransitionTime: TIME, lastUpdateTime: TIME }],
});
const DONE = /success|complete/;
const WAITING = /^[Ww]aiting/;
/** kubectl does not wait for these workloads. */
const UNSUPPORTED = /only available for RollingUpdate/;

type Rollout = readonly [
  resource: 'deployments' | 'statefulsets' | 'daemonsets',
  name: string,
  spec: Fields,
  status: Fields,
  kubectl: RegExp,
  word: string,
];

const ROLLOUTS: readonly Rollout[] = [
  ['deployments', 'done', { replicas: 3 }, READY, DONE, 'available'],
  ['deployments', 'unobserved', { replicas: 3 }, { ...READY, observedGeneration: 0 }, WAITING, 'progressing'],
  ['deployments', 'updating', { replicas: 3 }, { ...READY, updatedReplicas: 1 }, WAITING, 'progressing'],
  [
    'deployments',
    'late',
    { replicas: 3 },
    { ...READY, ...progressing('False', 'ProgressDeadlineExceeded') },
    /exceeded its progress deadline/,
    'degraded',
  ],
  // kubectl waits until the rollout is resumed.
  [
    'deployments',
    'paused',
    { replicas: 3, paused: true },
    { ...READY, updatedReplicas: 1, availableReplicas: 2 },
    WAITING,
    'degraded',
  ],
  [
    'statefulsets',
    'done',
    { replicas: 3 },
    { ...READY, updateRevision: 'a', currentRevision: 'a' },
    DONE,
    'available',
  ],
  [
    'statefulsets',
    'unready',
    { replicas: 3 },
    { ...READY, readyReplicas: 2, availableReplicas: 2 },
    WAITING,
    'degraded',
  ],
  ['statefulsets', 'updating', { replicas: 3 }, REVISIONS, WAITING, 'progressing'],
  [
    'statefulsets',
    'partly',
    { replicas: 3, ...strategy('RollingUpdate', 1) },
    REVISIONS,
    WAITING,
    'progressing',
  ],
  [
    'statefulsets',
    'partition',
    { replicas: 3, ...strategy('RollingUpdate', 2) },
    REVISIONS,
    DONE,
    'available',
  ],
  ['statefulsets', 'above', { replicas: 3, ...strategy('RollingUpdate', 5) }, REVISIONS, DONE, 'available'],
  [
    'statefulsets',
    'broken',
    { replicas: 3, ...strategy('RollingUpdate', 2) },
    { ...REVISIONS, readyReplicas: 2, availableReplicas: 2 },
    WAITING,
    'degraded',
  ],
  ['statefulsets', 'manual', { replicas: 3, ...strategy('OnDelete') }, REVISIONS, UNSUPPORTED, 'available'],
  ['daemonsets', 'done', {}, DAEMONS, DONE, 'available'],
  ['daemonsets', 'updating', {}, { ...DAEMONS, updatedNumberScheduled: 1 }, WAITING, 'progressing'],
  ['daemonsets', 'unready', {}, { ...DAEMONS, numberAvailable: 2 }, WAITING, 'degraded'],
  [
    'daemonsets',
    'manual',
    strategy('OnDelete'),
    { ...DAEMONS, updatedNumberScheduled: 1 },
    UNSUPPORTED,
    'available',
  ],
];

describe('statuses compared with the tables of kube-apiserver', () => {
  let cluster: ResourceCluster;
  let server: Server;
  let kube: Caller;

  before(async () => {
    cluster = await sharedCluster();
    kube = cluster.direct({ pair: await cluster.certificate('admin', ['system:masters']) });
    await cluster.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    server = await cluster.serve();
  });

  after(() => server?.stop());

  /** Creates an object, sets its status, and deletes it if its finalizer shall keep it in deletion. */
  async function put(
    path: string,
    name: string,
    body: Fields,
    { status, isDeleted = false }: { readonly status?: Fields; readonly isDeleted?: boolean },
  ): Promise<void> {
    await cluster.create(path, {
      metadata: { name, ...(isDeleted ? { finalizers: FINALIZERS } : {}) },
      ...body,
    });
    if (status) await cluster.patch(`${path}/${name}/status`, { status });
    if (isDeleted) await cluster.delete(`${path}/${name}`);
  }

  /** Returns the cells of a column, by the name of the object. */
  async function column(source: string, title: string): Promise<ReadonlyMap<string, string>> {
    const { body } = await kube.ask(source, { accept: TABLE });
    const index = array(body['columnDefinitions']).findIndex((one) => record(one)['name'] === title);
    return new Map(
      array(body['rows'])
        .map(record)
        .map((row) => [
          text(recordIn(row['object'], 'metadata')['name']),
          String(array(row['cells'])[index]),
        ]),
    );
  }

  /** Compares the objects of each word with the rows of the table. */
  async function compare(resource: string, source: string): Promise<ReadonlySet<string>> {
    await server.caughtUp(resource, source);
    const rows = await column(source, 'Status');
    const words = new Set([...rows.values()].flatMap((cell) => cell.split(',')));
    for (const word of words) {
      const { names } = await server.page(`${resource}?sortBy=name&ascending=true&status=${word}`);
      const expected = [...rows].filter(([, cell]) => cell.split(',').includes(word)).map(([name]) => name);
      expect(names, word).to.deep.equal(expected.sort());
    }
    return words;
  }

  it('of pods in 30 chosen and 150 random states', async () => {
    const path = '/api/v1/namespaces/default/pods';
    await forEach(PODS.values(), { signal: new AbortController().signal }, async (pod) => {
      const { name, spec, status, isDeleted, isGated } = pod;
      const gated = { ...spec, nodeName: undefined, schedulingGates: [{ name: 'example.com/gate' }] };
      // kube-apiserver itself sets the condition of a gated pod.
      await put(path, name, { spec: isGated ? gated : spec }, isGated ? {} : { status, isDeleted });
    });
    const words = await compare('pods', '/api/v1/pods');
    expect([...words]).to.include.members([
      'CrashLoopBackOff', 'Completed', 'Init:0/2', 'Init:1/2', 'Init:Error', 'Terminating', 'NotReady',
      'ContainerCreating', 'ErrImagePull', 'Evicted', 'SchedulingGated', 'Unknown', 'Running', 'OOMKilled',
      'Signal:9', 'ExitCode:7', 'Init:Signal:9', 'Init:ExitCode:3', 'Init:CrashLoopBackOff', 'Pending',
    ]); // biome-ignore format: a list
  });

  it('of pods, sorted by restarts as in the column RESTARTS', async () => {
    const restarts = await column('/api/v1/pods', 'Restarts');
    const { names } = await server.page('pods?sortBy=restarts&ascending=true');
    const countOf = (name: string): number => Number.parseInt(restarts.get(name) ?? '', 10);
    const expected = names.toSorted((a, b) => countOf(a) - countOf(b) || (a < b ? -1 : 1));
    expect(names).to.deep.equal(expected);
    expect(countOf(names.at(-1) ?? '')).to.be.above(10);
  });

  it('of jobs', async () => {
    const path = '/apis/batch/v1/namespaces/default/jobs';
    const template = { spec: { containers: [{ name: 'main', image: 'x' }], restartPolicy: 'Never' } };
    const job = (name: string, status?: Fields, spec: Fields = {}, isDeleted = false): Promise<void> =>
      put(path, name, { spec: { template, ...spec } }, { ...(status ? { status } : {}), isDeleted });
    await job('running');
    await job('complete', {
      startTime: TIME,
      completionTime: TIME,
      succeeded: 1,
      ...conditions('SuccessCriteriaMet', 'Complete'),
    });
    await job('failed', { startTime: TIME, ...conditions('FailureTarget', 'Failed') });
    await job('suspended', conditions('Suspended'), { suspend: true });
    await job('failing', { startTime: TIME, ...conditions('FailureTarget') });
    await job('succeeding', { startTime: TIME, ...conditions('SuccessCriteriaMet') });
    await job('deleted', undefined, {}, true);
    const words = await compare('jobs', '/apis/batch/v1/jobs');
    expect([...words].sort()).to.deep.equal([
      'Complete', 'Failed', 'FailureTarget', 'Running', 'SuccessCriteriaMet', 'Suspended', 'Terminating',
    ]); // biome-ignore format: a list
  });

  it('of workloads, compared with kubectl rollout status', async () => {
    const template = {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'main', image: 'x' }] },
    };
    const workload = { selector: { matchLabels: { app: 'x' } }, template };
    for (const [resource, name, spec, status, expected, word] of ROLLOUTS) {
      const path = `/apis/apps/v1/namespaces/default/${resource}`;
      const own = resource === 'statefulsets' ? { serviceName: 'x' } : {};
      await put(path, name, { spec: { ...workload, ...own, ...spec } }, { status });
      expect(await rolloutStatus(resource, name), `${resource} ${name}`).to.match(expected);
      await server.caughtUp(resource, `/apis/apps/v1/${resource}`);
      const { names } = await server.page(`namespaces/default/${resource}?status=${word}&names=${name}`);
      expect(names, `${resource} ${name}: ${word}`).to.deep.equal([name]);
    }
  });

  async function rolloutStatus(resource: string, name: string): Promise<string> {
    const { kubectl, kubeconfig } = cluster.controlPlane;
    const command = ['rollout', 'status', '--watch=false', `${resource}/${name}`, '--kubeconfig', kubeconfig];
    return execFileAsync(kubectl, command).then(
      ({ stdout }) => stdout,
      ({ stderr }: { readonly stderr: string }) => stderr,
    );
  }

  it('of namespaces', async () => {
    await put('/api/v1/namespaces', 'ending', {}, { isDeleted: true });
    expect([...(await compare('namespaces', '/api/v1/namespaces'))]).to.have.members([
      'Active',
      'Terminating',
    ]);
  });

  it('of claims and volumes', async () => {
    const access = { accessModes: ['ReadWriteOnce'] };
    const claim = { spec: { ...access, resources: { requests: { storage: '1Gi' } } } };
    const volume = { spec: { ...access, capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/x' } } };
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    for (const phase of ['Pending', 'Bound', 'Lost']) {
      await put(claims, phase.toLowerCase(), claim, { status: { phase } });
      await put(claims, `deleted-${phase.toLowerCase()}`, claim, { status: { phase }, isDeleted: true });
    }
    for (const phase of ['Pending', 'Available', 'Bound', 'Released', 'Failed']) {
      const path = '/api/v1/persistentvolumes';
      await put(path, phase.toLowerCase(), volume, { status: { phase } });
      await put(path, `deleted-${phase.toLowerCase()}`, volume, { status: { phase }, isDeleted: true });
    }
    const source = '/api/v1/persistentvolumeclaims';
    expect([...(await compare('persistentvolumeclaims', source))])
      .to.include('Terminating')
      .and.have.length(4);
    expect([...(await compare('persistentvolumes', '/api/v1/persistentvolumes'))])
      .to.include('Terminating')
      .and.have.length(6);
  });

  it('of nodes', async () => {
    for (const status of ['True', 'False', 'Unknown', undefined]) {
      for (const unschedulable of [true, false]) {
        const name = `${status ?? 'none'}-${unschedulable}`.toLowerCase();
        const ready = { conditions: [{ type: 'Ready', status, lastTransitionTime: TIME }] };
        await put('/api/v1/nodes', name, { spec: { unschedulable } }, status ? { status: ready } : {});
      }
    }
    expect([...(await compare('nodes', '/api/v1/nodes'))]).to.have.members([
      'Ready',
      'NotReady',
      'Unknown',
      'SchedulingDisabled',
    ]);
  });
});
