// Creates namespaces, pods and other objects for the benchmarks of lists under `/kapis`. RoleBindings grant a tenant
// access to a few of the namespaces.
import { randomUUID } from 'node:crypto';
import { array, record } from '../../../apis/reading/unknown-value.ts';
import { createAll, forEach } from '../../simulation/bulk.ts';
import { nodeName } from '../../simulation/realistic-node.ts';
import { until } from '../../system/until.ts';
import { CALLER, type Scene, TENANT } from './scene.ts';

/** Number of namespaces with pods. */
export const POD_NAMESPACES = 200;
/** Number of namespaces that the tenant may read. */
export const TENANT_NAMESPACES = 5;

const APPLICATIONS = ['cart', 'catalog', 'checkout', 'invoice', 'orders', 'search', 'stock', 'users'];

export function namespaceName(index: number): string {
  return `team-${String(index).padStart(4, '0')}`;
}

/** The namespaces of the tenant, each with pods. */
export function tenantNamespaces(): string[] {
  return Array.from({ length: TENANT_NAMESPACES }, (_, i) => namespaceName(i * 37));
}

const STARTED = Date.now();
/** Number of objects that are written to etcd over the same connections. */
const BATCH = 1000;

/** Scenes that have the objects. */
const filled = new WeakSet<Scene>();

export async function createManyObjects(scene: Scene): Promise<void> {
  if (filled.has(scene)) return;
  filled.add(scene);
  const { cluster, options, signal, progress } = scene;
  const namespaces = Iterator.from(Array(options.namespaces).keys()).map((i) => ({
    metadata: { name: namespaceName(i) },
  }));
  await createAll(cluster, '/api/v1/namespaces', namespaces, {
    what: 'namespaces',
    total: options.namespaces,
    signal,
    progress,
  });
  await hasServiceAccounts(scene);
  await storeEach(scene, STATEFUL_SETS, POD_NAMESPACES * APPLICATIONS.length, statefulSetOf);
  await storeEach(scene, PODS, options.pods, podOf);
  await storeEach(scene, CONFIG_MAPS, Math.floor(options.pods / 5), configMapOf);
  await storeEach(scene, SERVICES, Math.floor(options.pods / 10), serviceOf);
  await grantViews(scene);
}

/** A kind of objects, with its places in the API and in etcd. */
interface Stored {
  readonly plural: string;
  readonly version: string;
  readonly registry: string;
}

const PODS = { plural: 'pods', version: '/api/v1', registry: '/registry/pods' };
const CONFIG_MAPS = { plural: 'configmaps', version: '/api/v1', registry: '/registry/configmaps' };
const SERVICES = { plural: 'services', version: '/api/v1', registry: '/registry/services/specs' };
const STATEFUL_SETS = {
  plural: 'statefulsets',
  version: '/apis/apps/v1',
  registry: '/registry/statefulsets',
};

interface Created {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid?: string };
  readonly spec?: object;
}

/**
 * Writes objects of the namespaces with pods directly to etcd, because kube-apiserver creates them too slowly. The
 * objects of an application have the same defaults, which a dry run of kube-apiserver adds.
 */
async function storeEach(
  { cluster, etcd, signal, progress }: Scene,
  { plural, version, registry }: Stored,
  count: number,
  objectOf: (index: number) => Created,
): Promise<void> {
  const began = performance.now();
  const defaulted: Record<string, unknown>[] = [];
  for (const [i] of APPLICATIONS.entries()) {
    const object = objectOf(i * POD_NAMESPACES);
    const path = `${version}/namespaces/${object.metadata.namespace}/${plural}?dryRun=All`;
    const { body } = await cluster.expect(path, { method: 'POST', body: object, signal }, [201]);
    defaulted.push(record(JSON.parse(body)));
  }
  const stored = (index: number): readonly [key: string, object: object] => {
    const { metadata, spec } = objectOf(index);
    const like = defaulted[Math.floor(index / POD_NAMESPACES) % APPLICATIONS.length] ?? {};
    const created = { uid: randomUUID(), creationTimestamp: creationTime(index) };
    const node = spec && 'nodeName' in spec ? { nodeName: spec.nodeName } : {};
    const object = {
      ...like,
      metadata: { ...record(like['metadata']), ...created, ...metadata },
      ...('spec' in like ? { spec: { ...record(like['spec']), ...node } } : {}),
    };
    return [`${registry}/${metadata.namespace}/${metadata.name}`, object];
  };
  const batches = Iterator.from(Array(Math.ceil(count / BATCH)).keys()).map((i) => i * BATCH);
  await forEach(batches, { signal, concurrency: 4 }, async (first, signal) => {
    const length = Math.min(BATCH, count - first);
    await etcd.put(new Map(Array.from({ length }, (_, i) => stored(first + i))), signal);
  });
  progress(`created ${count} ${plural} in ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

/** Waits for the ServiceAccounts, without which kube-apiserver rejects pods. */
async function hasServiceAccounts({ cluster, signal }: Scene): Promise<void> {
  const path = '/api/v1/serviceaccounts?fieldSelector=metadata.name%3Ddefault&resourceVersion=0';
  const wanted = new Set(Array.from({ length: POD_NAMESPACES }, (_, i) => namespaceName(i)));
  const haveAll = async (): Promise<boolean> => {
    const { items } = record(await cluster.get(path, signal));
    for (const item of array(items)) wanted.delete(String(record(record(item)['metadata'])['namespace']));
    return wanted.size === 0;
  };
  await until(haveAll, { signal, timeoutMs: 300_000, pollMs: 500 });
}

/** Grants the ClusterRole `view` to the caller of the bench, and to the tenant in its namespaces. */
async function grantViews({ cluster, signal }: Scene): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const grant = (path: string, name: string): Promise<unknown> => {
    const body = {
      metadata: { name: `${name}-view` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    };
    return cluster.expect(path, { method: 'POST', body, signal }, [201, 409]);
  };
  await grant(`${rbac}/clusterrolebindings`, CALLER);
  for (const namespace of tenantNamespaces()) {
    await grant(`${rbac}/namespaces/${namespace}/rolebindings`, TENANT);
  }
}

function placeOf(index: number): { readonly application: string; readonly namespace: string } {
  const application = APPLICATIONS[Math.floor(index / POD_NAMESPACES) % APPLICATIONS.length] ?? '';
  return { application, namespace: namespaceName(index % POD_NAMESPACES) };
}

/** Returns a time in the two weeks before the bench. */
function creationTime(index: number): string {
  const seconds = (index * 7919) % 1_000_000;
  return new Date(STARTED - seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Returns a number that looks random, as text. */
function suffix(index: number): string {
  return ((index * 2_654_435_761) % 4_294_967_296).toString(36).padStart(7, '0');
}

/** Returns the name of a pod and its namespace. */
export function podName(index: number): Created['metadata'] {
  const { application, namespace } = placeOf(index);
  return { name: `${application}-6d49c4b8c9-${suffix(index)}`, namespace };
}

/** Returns the UID of the StatefulSet of a pod. */
function ownerOf(index: number): string {
  return `6d49c4b8-0000-4000-8000-${String(index % (POD_NAMESPACES * APPLICATIONS.length)).padStart(12, '0')}`;
}

/** Returns the owner of pods. Without it, the garbage collector deletes the pods. No controller of StatefulSets runs. */
function statefulSetOf(index: number): Created {
  const { application, namespace } = placeOf(index);
  const labels = { 'app.kubernetes.io/name': application };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: application, image: application }] },
  };
  const statefulSet = {
    metadata: { name: application, namespace, uid: ownerOf(index) },
    spec: { serviceName: application, selector: { matchLabels: labels }, template },
  };
  return statefulSet;
}

/** Returns a pod as a controller creates it, already bound to a node. */
function podOf(index: number): Created {
  const { application, namespace } = placeOf(index);
  const labels = {
    'app.kubernetes.io/name': application,
    'app.kubernetes.io/part-of': namespace,
    'pod-template-hash': '6d49c4b8c9',
  };
  const probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10, timeoutSeconds: 2 };
  const pod = {
    metadata: {
      ...podName(index),
      labels,
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          name: application,
          uid: ownerOf(index),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      nodeName: nodeName(index % 1000),
      containers: [
        {
          name: application,
          image: `registry.example.com/platform/${application}:v1.33.4`,
          ports: [{ name: 'http', containerPort: 8080 }],
          env: [
            { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'LOG_LEVEL', value: 'info' },
          ],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          readinessProbe: probe,
          livenessProbe: probe,
        },
      ],
    },
  };
  return pod;
}

function configMapOf(index: number): Created {
  const { application, namespace } = placeOf(index);
  const metadata = {
    name: `${application}-settings-${suffix(index)}`,
    namespace,
    labels: { 'app.kubernetes.io/name': application },
  };
  const configMap = { metadata, data: { 'settings.yaml': 'level: info\n' } };
  return configMap;
}

function serviceOf(index: number): Created {
  const { application, namespace } = placeOf(index);
  const metadata = {
    name: `${application}-${suffix(index)}`,
    namespace,
    labels: { 'app.kubernetes.io/name': application },
  };
  const service = { metadata, spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] } };
  return service;
}
