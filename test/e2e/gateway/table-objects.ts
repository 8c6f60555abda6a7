// Objects for tests of Tables: pods in many states, and custom resources with printer columns of each type.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Client, ClientRequest } from '../../../hack/control-plane/client.ts';
import { until } from '../../support/until.ts';

const OLD = '2024-01-02T03:04:05Z';
const running = { running: { startedAt: OLD } };
const waiting = (reason: string): object => ({ waiting: { reason } });
const terminated = (exitCode: number, more: object = {}): object => ({
  terminated: { exitCode, finishedAt: OLD, startedAt: OLD, ...more },
});
const of = (name: string, state: object, more: object = {}): object => ({
  ...{ name, image: 'i', imageID: '', ready: false, restartCount: 0, state },
  ...more,
});
const restarted = (restartCount: number): object => ({
  restartCount,
  lastState: terminated(1, { reason: 'Error' }),
});
const condition = (type: string, status: string, reason = ''): object => ({ type, status, reason });

const TWO = [
  { name: 'a', image: 'i' },
  { name: 'b', image: 'i' },
];
const INITS = [
  { name: 'i', image: 'i' },
  { name: 's', image: 'i', restartPolicy: 'Always' },
];
const GATES = [{ conditionType: 'example.com/one' }, { conditionType: 'example.com/two' }];

interface PodState {
  readonly spec?: object;
  readonly status?: object;
  readonly deleted?: boolean;
}

const PODS: Readonly<Record<string, PodState>> = {
  unscheduled: {},
  gated: { spec: { schedulingGates: [{ name: 'example.com/gate' }] } },
  running: {
    spec: { readinessGates: GATES },
    status: {
      ...{ phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
      conditions: [condition('Ready', 'True'), condition('example.com/one', 'True')],
      containerStatuses: [of('a', running, { ready: true }), of('b', running, { ready: true })],
    },
  },
  crashing: {
    status: {
      phase: 'Running',
      containerStatuses: [of('a', waiting('CrashLoopBackOff'), restarted(7)), of('b', running, restarted(2))],
    },
  },
  succeeded: {
    status: {
      phase: 'Succeeded',
      containerStatuses: ['a', 'b'].map((name) => of(name, terminated(0, { reason: 'Completed' }))),
    },
  },
  failed: { status: { phase: 'Failed', reason: 'Evicted', message: 'low on resource: memory' } },
  signalled: {
    status: {
      phase: 'Failed',
      containerStatuses: [of('a', terminated(137, { signal: 9 })), of('b', running)],
    },
  },
  exited: {
    status: { phase: 'Failed', containerStatuses: [of('a', terminated(3)), of('b', terminated(0))] },
  },
  partial: {
    status: {
      phase: 'Running',
      containerStatuses: [of('a', terminated(0, { reason: 'Completed' })), of('b', running, { ready: true })],
    },
  },
  initializing: {
    spec: { initContainers: INITS },
    status: {
      ...{ phase: 'Pending', nominatedNodeName: 'node-00001' },
      initContainerStatuses: [of('i', running, restarted(1)), of('s', waiting('PodInitializing'))],
      containerStatuses: ['a', 'b'].map((name) => of(name, waiting('PodInitializing'))),
    },
  },
  'init-failed': {
    spec: { initContainers: INITS },
    status: { phase: 'Pending', initContainerStatuses: [of('i', terminated(1, { reason: 'Error' }))] },
  },
  'init-crashing': {
    spec: { initContainers: INITS },
    status: { phase: 'Pending', initContainerStatuses: [of('i', waiting('CrashLoopBackOff'), restarted(3))] },
  },
  sidecar: {
    spec: { initContainers: INITS },
    status: {
      phase: 'Running',
      conditions: [condition('Initialized', 'True'), condition('Ready', 'True')],
      initContainerStatuses: [
        of('i', terminated(0), restarted(5)),
        of('s', running, { ready: true, started: true, ...restarted(1) }),
      ],
      containerStatuses: [of('a', running, { ready: true }), of('b', terminated(0, { reason: 'Completed' }))],
    },
  },
  terminating: { deleted: true, status: { phase: 'Running' } },
  'terminating-succeeded': { deleted: true, status: { phase: 'Succeeded' } },
  lost: { deleted: true, status: { phase: 'Running', reason: 'NodeLost' } },
};

const POD_PATH = '/api/v1/namespaces/shop/pods';
const patch = (body: object): ClientRequest => ({
  method: 'PATCH',
  body,
  contentType: 'application/merge-patch+json',
});

export async function createPods(client: Client): Promise<void> {
  for (const [name, { spec, status, deleted }] of Object.entries(PODS)) {
    const metadata = {
      name: `table-${name}`,
      ...(deleted ? { finalizers: ['example.com/hold'] } : {}),
      labels: { table: name },
    };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers: TWO, schedulerName: 'none', ...spec },
    };
    await client.expect(POD_PATH, { method: 'POST', body: pod }, [201]);
    const path = `${POD_PATH}/${metadata.name}`;
    if (status) await client.expect(`${path}/status`, patch({ status }), [200]);
    if (deleted) await client.expect(path, { method: 'DELETE', body: { gracePeriodSeconds: 0 } }, [200, 202]);
  }
}

/** Patches a label of a pod. Resolves with its resourceVersion. */
export async function labelPod(client: Client, value: string): Promise<string> {
  const { body } = await client.expect(
    `${POD_PATH}/table-running`,
    patch({ metadata: { labels: { step: value } } }),
    [200],
  );
  return text(recordIn(JSON.parse(body), 'metadata')['resourceVersion']);
}

const COLUMNS = [
  { name: 'Color', type: 'string', jsonPath: '.spec.color', description: 'The color <of> the widget.' },
  { name: 'Size', type: 'integer', format: 'int32', jsonPath: '.spec.size' },
  { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio', priority: 1 },
  { name: 'Paused', type: 'boolean', jsonPath: '.spec.paused' },
  { name: 'Since', type: 'date', jsonPath: '.spec.since' },
  { name: 'Host', type: 'string', jsonPath: '.spec.hosts[0]' },
  { name: 'Last', type: 'string', jsonPath: '.spec.hosts[-1]' },
  { name: 'Hosts', type: 'string', jsonPath: '.spec.hosts' },
  { name: 'Any', type: 'string', jsonPath: '.spec.hosts[*]' },
  { name: 'Ready', type: 'string', jsonPath: '.spec.conditions[?(@.type=="Ready")].status' },
  { name: 'Note', type: 'string', jsonPath: '.metadata.annotations.example\\.com/note' },
  { name: 'Team', type: 'string', jsonPath: '.metadata.labels.example\\.com/team' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

const SPECS: readonly object[] = [
  {},
  {
    ...{ color: 'a<b>&"c"', size: 3, ratio: 0.5, paused: false, since: OLD, hosts: ['a', 'b'] },
    conditions: [
      { type: 'Synced', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
  { color: 7, size: 2.9, ratio: 2, paused: 'no', since: '2024-01-02', hosts: [], conditions: [] },
  { color: true, size: 'x', ratio: '1', since: '2999-01-01T00:00:00+01:00', hosts: ['<x>', 1, null, true] },
  { color: 1234567.25, size: -1, ratio: 1e-7, since: '', hosts: [null], conditions: [{ type: 'Ready' }] },
  { color: 0.00001, size: null, ratio: null, paused: null, since: null, hosts: null, conditions: null },
  { color: ['x', 2.5], since: '2024-02-30T00:00:00Z', hosts: [1.5], conditions: 'none' },
];

/** Lets the server and the readers of the cluster list the custom resources. */
const VIEWERS = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'view-widgets',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
  },
  rules: [{ apiGroups: ['example.com'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
};

export async function createWidgets(client: Client): Promise<void> {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  await client.expect(roles, { method: 'POST', body: VIEWERS }, [201]);
  for (const [plural, columns] of [
    ['widgets', COLUMNS],
    ['gadgets', []],
    ['maps', [{ name: 'Map', type: 'string', jsonPath: '.spec' }]],
  ] as const) {
    const kind = `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}`;
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.example.com` },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced', names: { plural, kind } },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true, additionalPrinterColumns: columns },
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await client.expect(path, { method: 'POST', body: definition }, [201]);
    const objects = `/apis/example.com/v1/namespaces/shop/${plural}`;
    const create = async (spec: object, i: number): Promise<boolean> => {
      const metadata = {
        name: `w${i}`,
        labels: { 'example.com/team': `t${i}` },
        annotations: i % 2 === 0 ? {} : { 'example.com/note': `n${i}` },
      };
      const object = { apiVersion: 'example.com/v1', kind, metadata, spec };
      return (await client.send(objects, { method: 'POST', body: object })).status === 201;
    };
    for (const [i, spec] of SPECS.entries()) await until(() => create(spec, i));
  }
}
