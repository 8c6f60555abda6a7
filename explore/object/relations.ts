// What belongs to an object: the objects that it owns, the pods that it selects or runs, the objects in it, and logs.
import { fieldTerm, type KubernetesObject, valueAt } from 'ks-apiserver-client';
import { type ListRoute, type LogsRoute, listRoute, queryOf } from '../route.ts';

/** The kinds of the objects that an object of a kind owns. */
const OWNED: Readonly<Record<string, readonly string[]>> = {
  'deployments.apps': ['replicasets.apps'],
  'replicasets.apps': ['pods'],
  'statefulsets.apps': ['pods'],
  'daemonsets.apps': ['pods'],
  'jobs.batch': ['pods'],
  'cronjobs.batch': ['jobs.batch'],
  services: ['endpointslices.discovery.k8s.io'],
};
/** The kinds that custom resources usually own. */
const USUAL = [
  ...['deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'cronjobs.batch', 'pods'],
  ...['services', 'configmaps', 'persistentvolumeclaims'],
];
const IN_NAMESPACE = ['pods', 'deployments.apps', 'services', 'configmaps'];
/** The kinds that select pods, and do not own them. */
const SELECTING = new Set(['deployments.apps', 'services', 'replicationcontrollers']);
/** The kinds whose pods have names by which logs select them. */
const WORKLOADS = new Set(Object.keys(OWNED).filter((resource) => resource !== 'services'));

/** Returns the lists of related objects. */
export function relationsOf(
  resource: string,
  object: KubernetesObject,
  isCustom: boolean,
): readonly ListRoute[] {
  const { uid, name, namespace } = object.metadata;
  if (resource === 'nodes') return [listRoute('pods', { fieldSelector: fieldTerm('spec.nodeName', name) })];
  if (resource === 'namespaces') return IN_NAMESPACE.map((of) => listRoute(of, { namespace: name }));
  const owned = (Object.hasOwn(OWNED, resource) && OWNED[resource]) || (isCustom ? USUAL : []);
  const labelSelector = SELECTING.has(resource) ? podSelector(object) : '';
  return [
    ...(labelSelector === '' ? [] : [listRoute('pods', { namespace, labelSelector })]),
    ...owned.map((of) => listRoute(of, { namespace, ownerReference: uid })),
  ];
}

/** The selector of the pods of an object. Empty for a selector with expressions, which hardly any has. */
function podSelector(object: KubernetesObject): string {
  if (valueAt(object, 'spec.selector.matchExpressions')) return '';
  const labels = valueAt(object, 'spec.selector.matchLabels') ?? valueAt(object, 'spec.selector') ?? {};
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join();
}

/** Returns the logs of the pods of an object; undefined if it has none. */
export function logsOf(resource: string, { metadata }: KubernetesObject): LogsRoute | undefined {
  const parameter = resource === 'pods' ? 'pods' : 'workloads';
  if (parameter === 'workloads' && !WORKLOADS.has(resource)) return undefined;
  const { name, namespace } = metadata;
  const query = queryOf({ namespaces: namespace, [parameter]: name, last: '24h', follow: 'true' });
  return { view: 'logs', query };
}
