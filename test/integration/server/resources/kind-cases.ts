// Test data: objects of many kinds, with the expected status of each object.
import { definitionOf, version } from '../../../support/cluster/custom-resource.ts';
import type { Fields } from './resource-cluster.ts';

interface CaseObject {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly manifest: { readonly metadata: Fields } & Fields;
  /** Patch of the subresource `status`. */
  readonly status?: Fields;
  /** The expected status; empty for none. */
  readonly word: string;
}

export interface KindCase {
  /** In the paths of platform lists. */
  readonly resource: string;
  /** `/api/v1` or `/apis/GROUP/VERSION`. */
  readonly api: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly objects: readonly CaseObject[];
  /** Status of an object that the cluster itself creates; by default none. */
  readonly otherWord?: (body: Readonly<Record<string, unknown>>) => string;
  /** True if the objects are those of another case, in another group. */
  readonly isView?: true;
  /** Sort keys besides those of every kind. */
  readonly sortKeys?: Readonly<Record<string, (object: Fields) => string | number>>;
  /** Columns of lists with the values of kube-apiserver's Tables. */
  readonly columns?: readonly string[];
}

export const NAMESPACES = ['alpha', 'beta', 'gamma'] as const;
const NAMES = ['web', 'cart', 'db-0'] as const;

/** A part of an object for each index, and its expected status. */
interface Variant {
  readonly spec?: Fields;
  readonly status?: Fields;
  readonly word?: string;
  /** Members besides `spec` and `metadata`. */
  readonly more?: Fields;
}

function metadataOf(index: number, name: string): Fields {
  return {
    name,
    labels: {
      app: name,
      tier: index % 2 === 0 ? 'Front' : 'back',
      ...(index % 3 === 0 ? { 'example.com/only': 'x' } : {}),
    },
    annotations: {
      ...(index % 2 === 0 ? { 'platform.io/alias-name': `Shop ${index}` } : {}),
      'example.com/team': index % 3 === 0 ? 'red' : 'blue',
    },
    ...(index % 3 === 1
      ? {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'uid-1' },
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'owner', uid: 'uid-2' },
          ],
        }
      : {}),
  };
}

function objectOf(index: number, name: string, namespace: string, variants: readonly Variant[]): CaseObject {
  const { spec, status, word = '', more = {} } = variants[index % variants.length] ?? {};
  return {
    namespace,
    manifest: { metadata: metadataOf(index, name), ...(spec ? { spec } : {}), ...more },
    ...(status ? { status } : {}),
    word,
  };
}

/** Objects with equal names in several namespaces. */
function namespaced(variants: readonly Variant[]): CaseObject[] {
  return NAMESPACES.flatMap((namespace, row) =>
    NAMES.map((name, column) => objectOf(row * NAMES.length + column, name, namespace, variants)),
  );
}

function clusterScoped(variants: readonly Variant[]): CaseObject[] {
  return ['web', 'cart', 'db-0', 'big-cart', 'x1'].map((name, index) => objectOf(index, name, '', variants));
}

const container = { name: 'main', image: 'registry.example.com/Shop/nginx:1.27' };
const template = {
  metadata: { labels: { pod: 'x' } },
  spec: { containers: [container] },
};
const selector = { matchLabels: { pod: 'x' } };
const jobTemplate = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
const now = '2026-01-02T03:04:05Z';

function running(restarts: number): Fields {
  const state = { running: { startedAt: now } };
  const common = { name: 'main', image: container.image, imageID: '', ready: true, lastState: {} };
  return {
    phase: 'Running',
    podIP: `10.0.0.${restarts + 1}`,
    podIPs: [{ ip: `10.0.0.${restarts + 1}` }],
    containerStatuses: [{ ...common, state, restartCount: restarts }],
  };
}

function read(object: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? (value as Fields)[name] : undefined),
    object,
  );
}

function textAt(object: unknown, ...path: readonly string[]): string {
  const value = read(object, ...path);
  return typeof value === 'string' ? value : '';
}

function numberAt(object: unknown, ...path: readonly string[]): number {
  const value = read(object, ...path);
  return typeof value === 'number' ? value : Number.NEGATIVE_INFINITY;
}

const workload = { template, selector };
const eventTarget = (kind: string, name: string) => ({
  apiVersion: 'apps/v1',
  kind,
  name,
  fieldPath: 'spec',
  uid: `uid-${name}`,
  resourceVersion: '7',
});

export const CUSTOM_RESOURCES: readonly object[] = [
  definition('widgets', 'Widget', 'Namespaced', {
    selectableFields: [
      { jsonPath: '.spec.color' },
      { jsonPath: '.spec.size' },
      { jsonPath: '.spec.deep.on' },
    ],
    additionalPrinterColumns: [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Color', type: 'string', jsonPath: '.spec.color' },
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: 'Since', type: 'date', jsonPath: '.spec.since' },
    ],
  }),
  definition('regions', 'Region', 'Cluster', {}),
];

function definition(plural: string, kind: string, scope: 'Namespaced' | 'Cluster', more: Fields): object {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const spec = {
    ...anything,
    properties: {
      color: { type: 'string' },
      size: { type: 'integer' },
      since: { type: 'string', format: 'date-time' },
      deep: { type: 'object', properties: { on: { type: 'boolean' } } },
    },
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: anything } } };
  const v1 = version('v1', { schema, subresources: { status: {} }, ...more });
  return definitionOf({ plural, kind, scope, versions: [v1] });
}

const core = (plural: string) => ({ resource: plural, api: '/api/v1', plural, namespaced: true });
const apps = (plural: string) => ({ ...core(plural), api: '/apis/apps/v1' });
const batch = (plural: string) => ({ ...core(plural), api: '/apis/batch/v1' });
const inCluster = (plural: string) => ({ ...core(plural), namespaced: false });
const custom =
  (kind: string) =>
  (variant: Variant): Variant => ({
    ...variant,
    more: { apiVersion: 'example.com/v1', kind },
  });

const EVENTS: readonly CaseObject[] = NAMESPACES.flatMap((namespace, row) =>
  NAMES.map((name, column) => event(row * NAMES.length + column, name, namespace)),
);

function typeOf({ type }: Readonly<Record<string, unknown>>): string {
  return String(type);
}

function event(index: number, name: string, namespace: string): CaseObject {
  const word = index % 2 === 0 ? 'Normal' : 'Warning';
  const target = index % 2 === 0 ? eventTarget('Deployment', name) : eventTarget('Pod', `${name}-1`);
  const object = objectOf(index, name, namespace, [{ word }]);
  const more = {
    involvedObject: { ...target, namespace },
    type: word,
    reason: index % 3 === 0 ? 'BackOff' : 'Scheduled',
    message: 'something',
    ...(index % 3 === 1 ? { source: { component: 'kubelet', host: 'web' } } : {}),
    ...(index % 3 === 2
      ? {
          reportingComponent: 'example.com/controller',
          reportingInstance: 'one',
          eventTime: '2026-01-02T03:04:05.000000Z',
          action: 'Binding',
        }
      : {}),
  };
  return { ...object, manifest: { ...object.manifest, ...more } };
}

export const KINDS: readonly KindCase[] = [
  {
    ...core('pods'),
    columns: ['Ready', 'Restarts', 'Node', 'IP'],
    objects: namespaced([
      { spec: { containers: [container] }, word: 'Pending' },
      { spec: { containers: [container], nodeName: 'web' }, status: running(12), word: 'Running' },
      {
        spec: { containers: [container], nodeName: 'cart', restartPolicy: 'Never', hostNetwork: true },
        status: running(3),
        word: 'Running',
      },
      {
        spec: { containers: [container], schedulerName: 'other', nodeName: 'web' },
        status: { phase: 'Failed', reason: 'Evicted' },
        word: 'Evicted',
      },
    ]),
    sortKeys: {
      restarts: (pod) => {
        const [first] = (read(pod, 'status', 'containerStatuses') as readonly Fields[] | undefined) ?? [];
        return first ? Number(first['restartCount']) : 0;
      },
      node: (pod) => textAt(pod, 'spec', 'nodeName'),
    },
  },
  {
    ...apps('deployments'),
    objects: namespaced([
      { spec: { ...workload, replicas: 2 }, word: 'progressing' },
      {
        spec: { ...workload, replicas: 2 },
        status: {
          observedGeneration: 1,
          replicas: 2,
          updatedReplicas: 2,
          readyReplicas: 2,
          availableReplicas: 2,
        },
        word: 'available',
      },
      { spec: { ...workload, replicas: 0 }, status: { observedGeneration: 1 }, word: 'stopped' },
    ]),
  },
  {
    ...apps('statefulsets'),
    objects: namespaced([
      { spec: { ...workload, serviceName: 'x' }, word: 'progressing' },
      {
        spec: { ...workload, serviceName: 'x' },
        status: { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1 },
        word: 'available',
      },
      {
        spec: { ...workload, serviceName: 'x' },
        status: { observedGeneration: 1, replicas: 1, availableReplicas: 0 },
        word: 'degraded',
      },
    ]),
  },
  {
    ...apps('daemonsets'),
    objects: namespaced([
      { spec: workload, word: 'progressing' },
      {
        spec: workload,
        status: {
          observedGeneration: 1,
          currentNumberScheduled: 2,
          desiredNumberScheduled: 2,
          updatedNumberScheduled: 2,
          numberMisscheduled: 0,
          numberReady: 1,
          numberAvailable: 1,
        },
        word: 'degraded',
      },
      {
        spec: workload,
        status: {
          observedGeneration: 1,
          currentNumberScheduled: 0,
          desiredNumberScheduled: 0,
          numberMisscheduled: 0,
          numberReady: 0,
        },
        word: 'stopped',
      },
    ]),
  },
  {
    ...apps('replicasets'),
    objects: namespaced([
      { spec: { ...workload, replicas: 1 }, word: 'progressing' },
      {
        spec: { ...workload, replicas: 1 },
        status: { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1 },
        word: 'available',
      },
      { spec: { ...workload, replicas: 0 }, status: { observedGeneration: 1, replicas: 0 }, word: 'stopped' },
    ]),
  },
  {
    ...batch('jobs'),
    objects: namespaced([
      {
        spec: { template: jobTemplate },
        status: { startTime: now, active: 1, succeeded: 0 },
        word: 'Running',
      },
      {
        spec: { template: jobTemplate },
        status: {
          startTime: now,
          completionTime: now,
          succeeded: 1,
          conditions: [
            { type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: now },
            { type: 'Complete', status: 'True', lastTransitionTime: now },
          ],
        },
        word: 'Complete',
      },
      {
        spec: { template: jobTemplate, suspend: true },
        status: { conditions: [{ type: 'Suspended', status: 'True', lastTransitionTime: now }] },
        word: 'Suspended',
      },
    ]),
  },
  {
    ...batch('cronjobs'),
    objects: namespaced([
      { spec: { schedule: '0 * * * *', jobTemplate: { spec: { template: jobTemplate } } }, word: 'Active' },
      {
        spec: { schedule: '0 0 * * *', suspend: true, jobTemplate: { spec: { template: jobTemplate } } },
        word: 'Suspended',
      },
    ]),
  },
  {
    ...core('services'),
    objects: namespaced([
      { spec: { ports: [{ port: 80 }], selector: { app: 'x' } } },
      { spec: { ports: [{ port: 80 }], clusterIP: 'None' } },
      { spec: { type: 'ExternalName', externalName: 'example.com' } },
      { spec: { ports: [{ port: 80 }], type: 'NodePort' } },
    ]),
  },
  {
    ...core('ingresses'),
    api: '/apis/networking.k8s.io/v1',
    objects: namespaced([{ spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } } }]),
  },
  { ...core('configmaps'), objects: namespaced([{ more: { data: { key: 'väl"ue\n' } } }, {}]) },
  {
    ...core('persistentvolumeclaims'),
    objects: namespaced([
      { spec: claim(), word: 'Pending' },
      { spec: claim(), status: { phase: 'Bound' }, word: 'Bound' },
      { spec: claim(), status: { phase: 'Lost' }, word: 'Lost' },
    ]),
  },
  {
    ...inCluster('persistentvolumes'),
    objects: clusterScoped([
      { spec: volume(), status: { phase: 'Available' }, word: 'Available' },
      { spec: volume(), status: { phase: 'Released' }, word: 'Released' },
      { spec: volume(), status: { phase: 'Failed' }, word: 'Failed' },
    ]),
  },
  {
    ...inCluster('storageclasses'),
    api: '/apis/storage.k8s.io/v1',
    objects: clusterScoped([{ more: { provisioner: 'example.com/disk' } }]),
  },
  {
    ...inCluster('namespaces'),
    objects: clusterScoped([{ word: 'Active' }]),
    otherWord: () => 'Active',
  },
  { ...core('events'), objects: EVENTS, otherWord: typeOf },
  {
    ...core('events'),
    resource: 'events.events.k8s.io',
    api: '/apis/events.k8s.io/v1',
    objects: EVENTS,
    otherWord: typeOf,
    isView: true,
  },
  {
    ...inCluster('nodes'),
    columns: ['Roles', 'Version', 'Internal-IP', 'External-IP', 'OS-Image', 'Container-Runtime'],
    objects: clusterScoped([
      { status: { conditions: [{ type: 'Ready', status: 'True' }] }, word: 'running' },
      {
        spec: { unschedulable: true },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
        word: 'unschedulable',
      },
      { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] }, word: 'warning' },
    ]),
  },
  {
    ...core('widgets'),
    resource: 'widgets.example.com',
    columns: ['Size', 'Color', 'Ready'],
    api: '/apis/example.com/v1',
    objects: namespaced(
      [
        {
          spec: { color: 'red', size: 9, since: now },
          status: { conditions: [{ type: 'Ready', status: 'True' }] },
          word: 'Ready',
        },
        {
          spec: { color: 'Blue', size: 10, deep: { on: true } },
          status: {
            conditions: [
              { type: 'Synced', status: 'True' },
              { type: 'Ready', status: 'False' },
            ],
          },
          word: 'NotReady',
        },
        { spec: { size: -3, deep: { on: false } }, word: '' },
        { spec: {}, status: { phase: 'Waiting' }, word: 'Waiting' },
      ].map(custom('Widget')),
    ),
    sortKeys: {
      Size: (widget) => numberAt(widget, 'spec', 'size'),
      Color: (widget) => textAt(widget, 'spec', 'color'),
      Since: (widget) => textAt(widget, 'spec', 'since'),
      Ready: (widget) => {
        const conditions = (read(widget, 'status', 'conditions') as readonly Fields[] | undefined) ?? [];
        return textAt(
          conditions.find(({ type }) => type === 'Ready'),
          'status',
        );
      },
    },
  },
  {
    ...inCluster('regions'),
    resource: 'regions.example.com',
    api: '/apis/example.com/v1',
    objects: clusterScoped([{ spec: { color: 'red' } }, { spec: {} }].map(custom('Region'))),
  },
];

function claim(): Fields {
  return { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
}

function volume(): Fields {
  return { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/x' } };
}
