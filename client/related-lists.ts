// What belongs to an object: the objects that it owns, the pods that it selects or runs, the objects in it, and logs.
import type { KubernetesObject } from './kubernetes-object.ts';
import { fieldTerm, type ListQuery } from './lists.ts';
import type { LogQuery } from './logs.ts';
import { valueAt } from './object-values.ts';

export interface RelatedList {
  readonly resource: string;
  readonly query: Pick<ListQuery, 'namespace' | 'labelSelector' | 'fieldSelector' | 'ownerReference'>;
}

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
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'pods',
  'services',
  'configmaps',
  'persistentvolumeclaims',
];
const IN_NAMESPACE = ['pods', 'deployments.apps', 'services', 'configmaps'];
/** The kinds that select pods, and do not own them. */
const SELECTING = new Set(['deployments.apps', 'services', 'replicationcontrollers']);
/** The kinds whose pods have names by which logs select them. */
const WORKLOADS = new Set(Object.keys(OWNED).filter((resource) => resource !== 'services'));

/** The lists of the related objects. `isCustom`: of a custom resource, which can own objects of all usual kinds. */
export function relatedLists(
  resource: string,
  object: KubernetesObject,
  isCustom: boolean,
): readonly RelatedList[] {
  const { uid, name, namespace } = object.metadata;
  if (resource === 'nodes') {
    return [{ resource: 'pods', query: { fieldSelector: fieldTerm('spec.nodeName', name) } }];
  }
  if (resource === 'namespaces') {
    return IN_NAMESPACE.map((each) => ({ resource: each, query: { namespace: name } }));
  }
  const owned = (Object.hasOwn(OWNED, resource) && OWNED[resource]) || (isCustom ? USUAL : []);
  const labelSelector = SELECTING.has(resource) ? podSelector(object) : '';
  return [
    ...(labelSelector === '' ? [] : [{ resource: 'pods', query: { namespace, labelSelector } }]),
    ...owned.map((each) => ({ resource: each, query: { namespace, ownerReference: uid } })),
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

/** The filters of the logs of its pods; undefined if it has none. */
export function relatedLogs(
  resource: string,
  { metadata }: KubernetesObject,
): Pick<LogQuery, 'namespaces' | 'pods' | 'workloads'> | undefined {
  const { name, namespace = '' } = metadata;
  if (resource === 'pods') return { namespaces: [namespace], pods: [name] };
  return WORKLOADS.has(resource) ? { namespaces: [namespace], workloads: [name] } : undefined;
}
