// The columns of well-known kinds whose values the server does not compute: they are read from the objects of a page.
import type { KubernetesObject } from './kubernetes-object.ts';
import type { ListPage } from './lists.ts';
import { textAt, valueAt } from './object-values.ts';

export type Column = NonNullable<ListPage['columns']>[number];
export type Cell = string | number | boolean | null;
/** A path such as `spec.type`, or a function. */
type Read = string | ((object: KubernetesObject) => unknown);

/** A column with the function that reads its value. */
export interface OwnColumn extends Column {
  readonly read: (object: KubernetesObject) => Cell;
}

const of = (ready: string, desired: string): Read => {
  return (object) => `${textAt(object, ready) || 0}/${textAt(object, desired) || 0}`;
};
const images = 'spec.template.spec.containers.image';
const ready = of('status.readyReplicas', 'spec.replicas');
const replicas = { Ready: ready, Images: images };

/** Names and values of the columns. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  'deployments.apps': {
    Ready: ready,
    'Up-to-date': 'status.updatedReplicas',
    Available: 'status.availableReplicas',
    Images: images,
  },
  'statefulsets.apps': replicas,
  'replicasets.apps': replicas,
  'daemonsets.apps': {
    Ready: of('status.numberReady', 'status.desiredNumberScheduled'),
    'Up-to-date': 'status.updatedNumberScheduled',
    Images: images,
  },
  'jobs.batch': { Completions: of('status.succeeded', 'spec.completions'), Images: images },
  'cronjobs.batch': { Schedule: 'spec.schedule', 'Last Schedule': 'status.lastScheduleTime' },
  services: { Type: 'spec.type', 'Cluster IP': 'spec.clusterIP', Ports: 'spec.ports.port' },
  'ingresses.networking.k8s.io': { Class: 'spec.ingressClassName', Hosts: 'spec.rules.host' },
  configmaps: { Data: (object) => Object.keys(valueAt(object, 'data') ?? {}).length },
  persistentvolumeclaims: { Volume: 'spec.volumeName', Capacity: 'status.capacity.storage' },
  persistentvolumes: { Capacity: 'spec.capacity.storage', Claim: 'spec.claimRef.name' },
  events: {
    Reason: 'reason',
    Object: (object) => `${textAt(object, 'involvedObject.kind')}/${textAt(object, 'involvedObject.name')}`,
    Message: 'message',
  },
};

/** Wide, or known without them: the name of an event begins with that of its object. */
const LESS_IMPORTANT = new Set(['Images', 'Object']);

export function ownColumns(resource: string): readonly OwnColumn[] {
  const columns = Object.hasOwn(COLUMNS, resource) ? COLUMNS[resource] : {};
  return Object.entries(columns ?? {}).map(([name, read]) => ({
    name,
    type: 'string',
    format: '',
    description: '',
    priority: LESS_IMPORTANT.has(name) ? 1 : 0,
    read: (object) => cellOf(typeof read === 'string' ? valueAt(object, read) : read(object)),
  }));
}

/** Objects are not validated: everything else than a text, a number and a boolean is no value. */
function cellOf(value: unknown): Cell {
  if (Array.isArray(value)) return value.map(cellOf).filter(Boolean).join(', ') || null;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
