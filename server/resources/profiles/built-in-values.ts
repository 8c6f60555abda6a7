// Values for the sort keys and filters of built-in kinds, except pods and nodes, which also have printer columns.
import { array, optionalTime, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { exactName, type Kind } from '../kind.ts';
import { type ListColumn, timestamp } from '../list-columns.ts';
import type { KindFacts, KindValues, Value } from './kind-values.ts';

type Values = Omit<KindValues, 'columns'>;

const EVENT: Values = {
  read: (event) => [lastSeen(event)],
  sorts: new Map([['lastTimestamp', 0]]),
  listColumns: [dated('Last Seen', 0, 'The time of the last occurrence.', 'lastTimestamp')],
};
const UPDATED: Values = {
  read: (object) => [updatedAt(object)],
  sorts: new Map([['updateTime', 0]]),
  listColumns: [dated('Updated', 1, 'The time of the last change of a condition.', 'updateTime')],
};
const STORED: Values = {
  read: (object) => [storageClass(object)],
  sorts: new Map(),
  filters: new Map([['storageClassName', 0]]),
  listColumns: [
    {
      name: 'Storage Class',
      type: 'string',
      format: '',
      priority: 0,
      sortKey: undefined,
      description: 'The name of the StorageClass.',
      value: ({ facts }) => facts.values[0] ?? null,
    },
  ],
};

const VALUES: Readonly<Record<string, Values>> = {
  events: EVENT,
  'events.events.k8s.io': EVENT,
  'deployments.apps': UPDATED,
  'jobs.batch': UPDATED,
  persistentvolumeclaims: STORED,
  persistentvolumes: STORED,
};

export function builtInValues(kind: Kind): KindValues {
  const name = exactName(kind);
  const values = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  return { read: () => [], sorts: new Map(), listColumns: [], ...values, columns: undefined };
}

/** The column of the only value of an object, a time. */
function dated(name: string, priority: 0 | 1, description: string, sortKey: string): ListColumn<KindFacts> {
  return {
    name,
    type: 'date',
    format: '',
    priority,
    description,
    sortKey,
    value: ({ facts: { values } }) => (typeof values[0] === 'number' ? timestamp(values[0]) : null),
  };
}

/** Returns the time of kubectl's column LAST SEEN, in ms since the epoch. A repeated event has its first creation time. */
function lastSeen(event: unknown): Value {
  const { lastTimestamp, deprecatedLastTimestamp, eventTime } = record(event);
  const { lastObservedTime } = recordIn(event, 'series');
  const times = [lastObservedTime, lastTimestamp, deprecatedLastTimestamp, eventTime].map(text);
  return optionalTime(times.find((each) => each !== '')) ?? null;
}

/** Returns the time of the last change of a condition, or the creation time, in ms since the epoch. */
function updatedAt(object: unknown): Value {
  const times = array(recordIn(object, 'status')['conditions'])
    .map(record)
    .flatMap(({ lastUpdateTime, lastTransitionTime }) => [lastUpdateTime, lastTransitionTime]);
  const { creationTimestamp } = recordIn(object, 'metadata');
  return [creationTimestamp, ...times].reduce<Value>((last, time) => {
    const each = optionalTime(time) ?? null;
    return typeof last === 'number' && (each === null || each < last) ? last : each;
  }, null);
}

/** The annotation is older than the field, and kube-apiserver still supports it. */
function storageClass(object: unknown): Value {
  const annotations = recordIn(recordIn(object, 'metadata'), 'annotations');
  const annotation = text(annotations['volume.beta.kubernetes.io/storage-class']);
  return annotation || text(recordIn(object, 'spec')['storageClassName']) || null;
}
