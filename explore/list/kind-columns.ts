// The columns of well-known kinds whose values the server does not compute: they are read from the objects of a page.
import type { KubernetesObject, ListPage } from 'ks-apiserver-client';

export type Column = NonNullable<ListPage['columns']>[number];
export type Cell = string | number | boolean | null;
type Read = (object: KubernetesObject) => unknown;

/** A column with the function that reads its value. */
export interface OwnColumn extends Column {
  readonly read: (object: KubernetesObject) => Cell;
}

function column(name: string, read: Read | string, type = 'string', priority = 0): OwnColumn {
  const value: Read = typeof read === 'string' ? (object) => at(object, read) : read;
  return {
    ...{ name, type, format: '', description: '', priority },
    read: (object) => cellOf(value(object)),
  };
}

/** Objects are not validated: everything else than a text, a number and a boolean is no value. */
function cellOf(value: unknown): Cell {
  if (Array.isArray(value)) return value.map(cellOf).filter(Boolean).join(', ') || null;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** The value at a path such as `status.readyReplicas`; those of all items if a list is on the way. */
export function at(object: unknown, path: string): unknown {
  return path.split('.').reduce(memberOf, object);
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((each) => memberOf(each, name));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

/** The text or number at a path; empty for everything else. */
export function textAt(object: unknown, path: string): string {
  const value = at(object, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function listAt(object: unknown, path: string): readonly unknown[] {
  const value = at(object, path);
  return Array.isArray(value) ? value : [];
}

const of = (ready: string, desired: string, missing = 1): Read => {
  return (object) => `${textAt(object, ready) || 0}/${textAt(object, desired) || missing}`;
};
const joined = (...paths: readonly string[]): Read => {
  return (object) => paths.map((path) => textAt(object, path)).join('/');
};
const ready = column('Ready', of('status.readyReplicas', 'spec.replicas'));
const images = column('Images', 'spec.template.spec.containers.image', 'string', 1);
const data = column('Data', (object) => Object.keys(at(object, 'data') ?? {}).length, 'integer');
const roles = [column('Role', 'roleRef.name'), column('Subjects', 'subjects.name')];

const COLUMNS: Readonly<Record<string, readonly OwnColumn[]>> = {
  'deployments.apps': [
    ready,
    column('Up-to-date', 'status.updatedReplicas', 'integer'),
    column('Available', 'status.availableReplicas', 'integer'),
    images,
  ],
  'statefulsets.apps': [ready, images],
  'replicasets.apps': [ready, images],
  'daemonsets.apps': [
    column('Ready', of('status.numberReady', 'status.desiredNumberScheduled', 0)),
    column('Up-to-date', 'status.updatedNumberScheduled', 'integer'),
    images,
  ],
  'jobs.batch': [column('Completions', of('status.succeeded', 'spec.completions')), images],
  'cronjobs.batch': [
    column('Schedule', 'spec.schedule'),
    column('Active', (object) => listAt(object, 'status.active').length, 'integer'),
    column('Last Schedule', 'status.lastScheduleTime', 'date'),
  ],
  services: [
    column('Type', 'spec.type'),
    column('Cluster IP', 'spec.clusterIP'),
    column('Ports', (object) =>
      listAt(object, 'spec.ports').map((port) => `${textAt(port, 'port')}/${textAt(port, 'protocol')}`),
    ),
  ],
  'ingresses.networking.k8s.io': [
    column('Class', 'spec.ingressClassName'),
    column('Hosts', 'spec.rules.host'),
  ],
  configmaps: [data],
  secrets: [column('Type', 'type'), data],
  persistentvolumeclaims: [
    column('Volume', 'spec.volumeName'),
    column('Capacity', 'status.capacity.storage'),
    column('Access Modes', 'status.accessModes', 'string', 1),
  ],
  persistentvolumes: [
    column('Capacity', 'spec.capacity.storage'),
    column('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
    column('Claim', joined('spec.claimRef.namespace', 'spec.claimRef.name')),
  ],
  events: [
    column('Reason', 'reason'),
    column('Object', joined('involvedObject.kind', 'involvedObject.name')),
    column('Message', 'message'),
    column('Count', 'count', 'integer', 1),
  ],
  'horizontalpodautoscalers.autoscaling': [
    column('Target', joined('spec.scaleTargetRef.kind', 'spec.scaleTargetRef.name')),
    column('Replicas', of('status.currentReplicas', 'status.desiredReplicas', 0)),
    column('Maximum', 'spec.maxReplicas', 'integer'),
  ],
  'rolebindings.rbac.authorization.k8s.io': roles,
  'clusterrolebindings.rbac.authorization.k8s.io': roles,
  'storageclasses.storage.k8s.io': [column('Provisioner', 'provisioner')],
  'customresourcedefinitions.apiextensions.k8s.io': [
    column('Group', 'spec.group'),
    column('Kind', 'spec.names.kind'),
    column('Scope', 'spec.scope'),
  ],
};

export function ownColumns(resource: string): readonly OwnColumn[] {
  return Object.hasOwn(COLUMNS, resource) ? (COLUMNS[resource] ?? []) : [];
}
