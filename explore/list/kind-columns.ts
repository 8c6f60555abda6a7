// The columns of well-known kinds whose values the server does not compute: they are read from the objects of a page.
import type { KubernetesObject, ListPage } from 'ks-apiserver-client';

export type Column = NonNullable<ListPage['columns']>[number];
export type Cell = string | number | boolean | null;

/** A column with the function that reads its value. */
export interface OwnColumn extends Column {
  readonly read: (object: KubernetesObject) => Cell;
}

type Read = (object: KubernetesObject) => unknown;

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

/** The value at a path such as `status.readyReplicas`. */
export function at(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Readonly<Record<string, unknown>>)[name]
          : undefined,
      object,
    );
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

const of =
  (ready: string, desired: string, missing = 1): Read =>
  (object) =>
    `${textAt(object, ready) || 0}/${textAt(object, desired) || missing}`;
const all =
  (list: string, path: string): Read =>
  (object) =>
    listAt(object, list).map((each) => at(each, path));
const keys =
  (path: string): Read =>
  (object) =>
    Object.keys(at(object, path) ?? {}).length;
const image = column('Images', all('spec.template.spec.containers', 'image'), 'string', 1);

const COLUMNS: Readonly<Record<string, readonly OwnColumn[]>> = {
  'deployments.apps': [
    column('Ready', of('status.readyReplicas', 'spec.replicas')),
    column('Up-to-date', 'status.updatedReplicas', 'integer'),
    column('Available', 'status.availableReplicas', 'integer'),
    image,
  ],
  'statefulsets.apps': [column('Ready', of('status.readyReplicas', 'spec.replicas')), image],
  'replicasets.apps': [column('Ready', of('status.readyReplicas', 'spec.replicas')), image],
  'daemonsets.apps': [
    column('Ready', of('status.numberReady', 'status.desiredNumberScheduled', 0)),
    column('Up-to-date', 'status.updatedNumberScheduled', 'integer'),
    image,
  ],
  'jobs.batch': [column('Completions', of('status.succeeded', 'spec.completions')), image],
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
    column('Hosts', all('spec.rules', 'host')),
  ],
  configmaps: [column('Data', keys('data'), 'integer')],
  secrets: [column('Type', 'type'), column('Data', keys('data'), 'integer')],
  persistentvolumeclaims: [
    column('Volume', 'spec.volumeName'),
    column('Capacity', 'status.capacity.storage'),
    column('Access Modes', 'status.accessModes', 'string', 1),
  ],
  persistentvolumes: [
    column('Capacity', 'spec.capacity.storage'),
    column('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
    column('Claim', (object) =>
      ['namespace', 'name'].map((name) => textAt(object, `spec.claimRef.${name}`)).join('/'),
    ),
  ],
  events: [
    column('Reason', 'reason'),
    column('Object', (object) =>
      ['kind', 'name'].map((name) => textAt(object, `involvedObject.${name}`)).join('/'),
    ),
    column('Message', 'message'),
    column('Count', 'count', 'integer', 1),
  ],
  'horizontalpodautoscalers.autoscaling': [
    column('Target', (object) =>
      ['kind', 'name'].map((name) => textAt(object, `spec.scaleTargetRef.${name}`)).join('/'),
    ),
    column('Replicas', of('status.currentReplicas', 'status.desiredReplicas', 0)),
    column('Maximum', 'spec.maxReplicas', 'integer'),
  ],
  'rolebindings.rbac.authorization.k8s.io': [
    column('Role', 'roleRef.name'),
    column('Subjects', all('subjects', 'name')),
  ],
  'clusterrolebindings.rbac.authorization.k8s.io': [
    column('Role', 'roleRef.name'),
    column('Subjects', all('subjects', 'name')),
  ],
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
