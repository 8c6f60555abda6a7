// The objects below an object: those that it owns, the pods that it selects or runs, or the objects in it.
import type { KubernetesObject } from 'ks-apiserver-client';
import { at, listAt, textAt } from '../list/kind-columns.ts';
import { fieldTerm } from '../list/list-query.ts';
import { type ListRoute, listRoute } from '../route.ts';

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
/** The kinds with a selector of pods. */
const SELECTING = new Set([
  ...['deployments.apps', 'replicasets.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch'],
  ...['services', 'replicationcontrollers'],
]);
const IN_NAMESPACE = ['pods', 'deployments.apps', 'services', 'configmaps'];

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
  const labelSelector = owned.includes('pods') ? '' : selectorOf(resource, object);
  return [
    ...(labelSelector === '' ? [] : [listRoute('pods', { namespace, labelSelector })]),
    ...owned.map((of) => listRoute(of, { namespace, ownerReference: uid })),
  ];
}

/** The selector of the pods of an object; empty for none. */
export function selectorOf(resource: string, object: KubernetesObject): string {
  if (!SELECTING.has(resource)) return '';
  const isService = ['services', 'replicationcontrollers'].includes(resource);
  const labels = at(object, isService ? 'spec.selector' : 'spec.selector.matchLabels') ?? {};
  const expressions = isService ? [] : listAt(object, 'spec.selector.matchExpressions');
  return [
    ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    ...expressions.map(termOf),
  ].join(',');
}

function termOf(expression: unknown): string {
  const [key, operator] = [textAt(expression, 'key'), textAt(expression, 'operator')];
  const values = listAt(expression, 'values').map(String).join();
  if (operator === 'Exists') return key;
  return operator === 'DoesNotExist' ? `!${key}` : `${key} ${operator.toLowerCase()} (${values})`;
}
