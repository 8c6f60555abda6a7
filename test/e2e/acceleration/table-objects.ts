// Objects for tests of Tables: pods in many states, and custom resources with printer columns of each type.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Client, ClientRequest } from '../../../hack/control-plane/client.ts';
import { definitionOf, version } from '../../support/cluster/custom-resource.ts';
import { CHOSEN, type PodState } from '../../support/platform/pod-states.ts';
import { until } from '../../support/until.ts';

const OLD = '2024-01-02T03:04:05Z';
const OLDER = '2023-01-02T03:04:05Z';
const CONTAINERS = ['a', 'b'].map((name) => ({ name, image: 'i' }));

/** The status of a running container that was restarted. */
const restarted = (name: string, restartCount: number, finishedAt: string): object => ({
  name,
  restartCount,
  image: 'i',
  imageID: '',
  ready: true,
  started: true,
  state: { running: { startedAt: OLD } },
  lastState: { terminated: { exitCode: 1, reason: 'Error', finishedAt, startedAt: finishedAt } },
});

/** Pods with values in columns that those of pod-states.ts leave empty, and with times of their restarts. */
const MORE: readonly PodState[] = [
  {
    name: 'wide',
    isDeleted: false,
    isGated: false,
    spec: {
      containers: CONTAINERS,
      readinessGates: ['example.com/one', 'example.com/two'].map((conditionType) => ({ conditionType })),
    },
    status: {
      phase: 'Running',
      nominatedNodeName: 'node-00001',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
      conditions: ['Ready', 'example.com/one'].map((type) => ({ type, status: 'True' })),
      containerStatuses: [restarted('a', 7, OLD), restarted('b', 2, OLDER)],
    },
  },
  {
    name: 'restarted-sidecar',
    isDeleted: false,
    isGated: false,
    spec: { containers: CONTAINERS, initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Initialized', status: 'True' }],
      initContainerStatuses: [restarted('s', 3, OLD)],
      containerStatuses: [restarted('a', 1, OLDER)],
    },
  },
];

const POD_PATH = '/api/v1/namespaces/shop/pods';
const patch = (body: object): ClientRequest => ({
  method: 'PATCH',
  body,
  contentType: 'application/merge-patch+json',
});

export async function createPods(client: Client): Promise<void> {
  for (const { name, spec, status, isDeleted, isGated } of [...CHOSEN, ...MORE]) {
    const metadata = {
      name: `table-${name}`,
      ...(isDeleted ? { finalizers: ['example.com/hold'] } : {}),
      labels: { table: name },
    };
    // Without a node, because KWOK would run the pod.
    const gates = isGated ? { schedulingGates: [{ name: 'example.com/gate' }] } : {};
    const body = { metadata, spec: { ...spec, nodeName: undefined, schedulerName: 'none', ...gates } };
    await client.expect(POD_PATH, { method: 'POST', body }, [201]);
    const path = `${POD_PATH}/${metadata.name}`;
    // kube-apiserver itself sets the condition of a gated pod.
    if (!isGated) await client.expect(`${path}/status`, patch({ status }), [200]);
    if (isDeleted) {
      await client.expect(path, { method: 'DELETE', body: { gracePeriodSeconds: 0 } }, [200, 202]);
    }
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
    color: 'a<b>&"c"',
    size: 3,
    ratio: 0.5,
    paused: false,
    since: OLD,
    hosts: ['a', 'b'],
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
    ['descents', [{ name: 'Colors', type: 'string', jsonPath: '.spec..color' }]],
  ] as const) {
    const kind = `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = [version('v1', { schema, additionalPrinterColumns: columns })];
    const definition = definitionOf({ plural, kind, scope: 'Namespaced', versions });
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
