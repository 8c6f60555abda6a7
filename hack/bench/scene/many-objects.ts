// Creates namespaces, pods and other objects for the benchmarks of lists under `/kapis`. RoleBindings grant a tenant
// access to a few of the namespaces.
import { setTimeout as delay } from 'node:timers/promises';
import { array, record } from '../../../apis/reading/unknown-value.ts';
import { createAll, forEach } from '../../simulation/bulk.ts';
import { nodeName } from '../../simulation/realistic-node.ts';
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

/** Creates all objects; returns the time of the creation of the pods in ms. */
export async function createManyObjects(scene: Scene): Promise<number> {
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
  const began = performance.now();
  await createEach(scene, 'pods', options.pods, podOf);
  const elapsed = performance.now() - began;
  progress(`created ${options.pods} pods in ${(elapsed / 1000).toFixed(0)} s`);
  await createEach(scene, 'configmaps', Math.floor(options.pods / 5), configMapOf);
  await createEach(scene, 'services', Math.floor(options.pods / 10), serviceOf);
  await grantViews(scene);
  return elapsed;
}

interface Created {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/** Creates objects in the namespaces with pods. */
async function createEach(
  { cluster, signal, progress }: Scene,
  plural: string,
  count: number,
  objectOf: (index: number) => Created,
): Promise<void> {
  const objects = Iterator.from(Array(count).keys()).map((index) => objectOf(index));
  let created = 0;
  await forEach(objects, { signal }, async (object, signal) => {
    const path = `/api/v1/namespaces/${object.metadata.namespace}/${plural}`;
    await cluster.expect(path, { method: 'POST', body: object, signal }, [201, 409]);
    if (++created % 1000 === 0) progress(`${plural}: ${created} of ${count}`, true);
  });
}

/** Waits for the ServiceAccounts, without which kube-apiserver rejects pods. */
async function hasServiceAccounts({ cluster, signal }: Scene): Promise<void> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(300_000)]);
  const path = '/api/v1/serviceaccounts?fieldSelector=metadata.name%3Ddefault&resourceVersion=0';
  const wanted = new Set(Array.from({ length: POD_NAMESPACES }, (_, i) => namespaceName(i)));
  for (;;) {
    const { items } = record(await cluster.get(path, patience));
    for (const item of array(items)) wanted.delete(String(record(record(item)['metadata'])['namespace']));
    if (wanted.size === 0) return;
    await delay(500, undefined, { signal: patience });
  }
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

/** Returns a number that looks random, as text. */
function suffix(index: number): string {
  return ((index * 2_654_435_761) % 4_294_967_296).toString(36).padStart(7, '0');
}

/** Returns the name of a pod and its namespace. */
export function podName(index: number): Created['metadata'] {
  const { application, namespace } = placeOf(index);
  return { name: `${application}-6d49c4b8c9-${suffix(index)}`, namespace };
}

/** Returns a pod as the controller of a ReplicaSet creates it, already bound to a node. */
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
          kind: 'ReplicaSet',
          name: `${application}-6d49c4b8c9`,
          uid: `6d49c4b8-0000-4000-8000-${String(index % (POD_NAMESPACES * 8)).padStart(12, '0')}`,
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
