// The printer columns of pods.
// Source: printPod in pkg/printers/internalversion/printers.go of Kubernetes.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { ageSince } from '../age.ts';
import { type ListColumn, timestamp } from '../list-columns.ts';
import type { RowCondition } from '../resource-definition.ts';
import type { KindFacts, KindValues, PrintedColumn, Value } from './kind-values.ts';
import { podContainers, readinessGates } from './pod-status.ts';

type Pod = ObjectIdentity<KindFacts>;
type Cell = PrintedColumn['cell'];

function column(name: string, cell: Cell): PrintedColumn {
  return { name, type: 'string', cell };
}

const NAME = column('Name', ({ name }) => name);
const AGE = column('Age', ({ facts }, now) => ageSince(facts.createdAt, now));

/** The selectable fields of pods. */
type PodFields = Readonly<Record<string, (pod: Pod) => string>>;

export function podValues(fields: PodFields): KindValues {
  const valueAt =
    (i: number): Cell =>
    ({ facts }) =>
      facts.values[i] ?? null;
  const field =
    (name: string): Cell =>
    (pod) =>
      fields[name]?.(pod) || '<none>';
  const columns = [
    NAME,
    column('Ready', valueAt(0)),
    column('Status', ({ facts }) => facts.status[0] ?? ''),
    column('Restarts', ({ facts: { values } }, now) => {
      const [, restarts, restartedAt] = values;
      const isDated = restarts !== 0 && typeof restartedAt === 'number' && restartedAt > 0;
      return isDated ? `${restarts} (${ageSince(restartedAt, now)} ago)` : String(restarts);
    }),
    AGE,
    column('IP', field('status.podIP')),
    column('Node', field('spec.nodeName')),
    column('Nominated Node', field('status.nominatedNodeName')),
    column('Readiness Gates', valueAt(3)),
  ];
  return {
    read: (pod) => {
      const { ready, restarts, restartedAt } = podContainers(pod);
      return [ready, restarts, restartedAt, readinessGates(pod), claims(pod)];
    },
    sorts: new Map([['restarts', 1]]),
    filters: new Map([['pvcName', 4]]),
    listColumns: [
      listed(
        'Ready',
        'string',
        0,
        'Containers that are ready, of all containers.',
        ({ facts }) => facts.values[0],
      ),
      {
        ...listed('Restarts', 'integer', 0, 'Restarts of all containers.', ({ facts }) => facts.values[1]),
        sortKey: 'restarts',
      },
      listed('Last Restart', 'date', 1, 'The time of the last restart of a container.', ({ facts }) => {
        const [, , restartedAt] = facts.values;
        return typeof restartedAt === 'number' && restartedAt > 0 ? timestamp(restartedAt * 1000) : null;
      }),
      { ...listed('Node', 'string', 0, 'The node of the pod.', fields['spec.nodeName']), sortKey: 'node' },
      listed('IP', 'string', 1, 'The IP address of the pod.', fields['status.podIP']),
    ],
    columns,
  };
}

/** A column of lists that is not a sort key. An empty text is no value. */
function listed(
  name: string,
  type: string,
  priority: 0 | 1,
  description: string,
  read: (pod: Pod) => Value | undefined = () => null,
): ListColumn<KindFacts> {
  const value = (pod: Pod): Value => {
    const cell = read(pod) ?? null;
    return cell === '' ? null : cell;
  };
  return { name, type, format: '', priority, description, sortKey: undefined, value };
}

/** Returns the names of the PersistentVolumeClaims of a pod. The claim of an ephemeral volume has a generated name. */
function claims(pod: unknown): Value {
  const { name } = recordIn(pod, 'metadata');
  const names = array(recordIn(pod, 'spec')['volumes'])
    .map(record)
    .map((volume) =>
      volume['ephemeral']
        ? `${text(name)}-${text(volume['name'])}`
        : text(recordIn(volume, 'persistentVolumeClaim')['claimName']),
    );
  return names.filter((each) => each !== '').join(' ') || null;
}

const completed = { type: 'Completed', status: 'True' };
const SUCCEEDED = [{ ...completed, reason: 'Succeeded', message: 'The pod has completed successfully.' }];
const FAILED = [{ ...completed, reason: 'Failed', message: 'The pod failed.' }];

/** Returns the function that reads the conditions of the row of a pod. */
export function podConditions(fields: PodFields): (pod: Pod) => readonly RowCondition[] | undefined {
  return (pod) => {
    const phase = fields['status.phase']?.(pod);
    if (phase === 'Succeeded') return SUCCEEDED;
    return phase === 'Failed' ? FAILED : undefined;
  };
}
