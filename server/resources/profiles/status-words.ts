// The status of an object, for instance `Running`: one word, and several for nodes.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { exactName, type Kind } from '../kind.ts';
import { NODE_STATUSES, nodeStatuses } from './node-facts.ts';
import { podStatus } from './pod-status.ts';

type Fields = Readonly<Record<string, unknown>>;
type StatusWord = (object: unknown) => string;

/** The words of workloads, which kubectl shows only as numbers. */
const WORKLOAD_STATUSES = ['available', 'progressing', 'degraded', 'stopped', 'terminating'] as const;
type WorkloadStatus = (typeof WORKLOAD_STATUSES)[number];

interface KindStatus {
  readonly word: StatusWord;
  /** All words; undefined if there are any number of them. */
  readonly words?: readonly string[];
}

const PHASES = {
  namespaces: ['Active', 'Terminating'],
  persistentvolumeclaims: ['Pending', 'Bound', 'Lost', 'Terminating'],
  persistentvolumes: ['Pending', 'Available', 'Bound', 'Released', 'Failed', 'Terminating'],
} as const;

const STATUSES: Readonly<Record<string, KindStatus>> = {
  pods: { word: podStatus },
  'deployments.apps': workload(deploymentStatus),
  'statefulsets.apps': workload(statefulSetStatus),
  'daemonsets.apps': workload(daemonSetStatus),
  'replicasets.apps': workload(replicaSetStatus),
  replicationcontrollers: workload(replicaSetStatus),
  'jobs.batch': {
    word: jobStatus,
    words: [
      'Running',
      'Complete',
      'Failed',
      'Suspended',
      'Terminating',
      'FailureTarget',
      'SuccessCriteriaMet',
    ],
  },
  'cronjobs.batch': { word: cronJobStatus, words: ['Active', 'Suspended', 'Terminating'] },
  namespaces: { word: (object) => text(recordIn(object, 'status')['phase']), words: PHASES.namespaces },
  persistentvolumeclaims: { word: phase, words: PHASES.persistentvolumeclaims },
  persistentvolumes: { word: phase, words: PHASES.persistentvolumes },
  events: { word: (object) => text(record(object)['type']) },
  'events.events.k8s.io': { word: (object) => text(record(object)['type']) },
};

function isNodes(kind: Kind): boolean {
  return exactName(kind) === 'nodes';
}

/** Returns the function that reads the status of an object; empty if the object has none. */
export function statusOf(kind: Kind): (object: unknown) => readonly string[] {
  if (isNodes(kind)) return nodeStatuses;
  const word = ownStatus(kind)?.word ?? conditionStatus;
  return (object) => {
    const status = word(object);
    return status === '' ? [] : [status];
  };
}

/** Returns all statuses of a kind; undefined if it has any number of them. */
export function statusesOf(kind: Kind): readonly string[] | undefined {
  return isNodes(kind) ? NODE_STATUSES : ownStatus(kind)?.words;
}

function ownStatus(kind: Kind): KindStatus | undefined {
  const name = exactName(kind);
  return !kind.custom && Object.hasOwn(STATUSES, name) ? STATUSES[name] : undefined;
}

function isDeleted(object: unknown): boolean {
  return recordIn(object, 'metadata')['deletionTimestamp'] !== undefined;
}

function phase(object: unknown): string {
  return isDeleted(object) ? 'Terminating' : text(recordIn(object, 'status')['phase']);
}

/** Later conditions are ignored, because a custom resource can have a million of them. */
const MAX_CONDITIONS = 1000;
/** Conditions that mean that an object works, the most common one first. */
const READY_CONDITIONS = ['Ready', 'Available', 'Healthy', 'Established', 'Accepted', 'Synced', 'Succeeded'];

/**
 * Returns the state of the condition that means that the object works: `Ready`, `NotReady` or `Unknown` for `Ready`, and
 * so on. Without such a condition, returns `status.phase`.
 */
function conditionStatus(object: unknown): string {
  if (isDeleted(object)) return 'Terminating';
  const status = recordIn(object, 'status');
  for (const type of READY_CONDITIONS) {
    const condition = conditionOf(status, type);
    if (!condition) continue;
    if (condition['status'] === 'True') return type;
    return condition['status'] === 'False' ? `Not${type}` : 'Unknown';
  }
  return text(status['phase']);
}

function conditionOf(status: Fields, type: string): Fields | undefined {
  return array(status['conditions'])
    .slice(0, MAX_CONDITIONS)
    .map(record)
    .find((condition) => condition['type'] === type);
}

function hasCondition(status: Fields, type: string, value = 'True'): boolean {
  return conditionOf(status, type)?.['status'] === value;
}

function count(fields: Fields, name: string, missing = 0): number {
  const value = fields[name];
  return typeof value === 'number' ? value : missing;
}

function workload(word: (object: unknown, status: Fields) => WorkloadStatus): KindStatus {
  return {
    words: WORKLOAD_STATUSES,
    word: (object) => {
      const status = recordIn(object, 'status');
      if (isDeleted(object)) return 'terminating';
      // The controller has not yet processed the last change of `spec`.
      const generation = count(recordIn(object, 'metadata'), 'generation');
      return count(status, 'observedGeneration') < generation ? 'progressing' : word(object, status);
    },
  };
}

/** A paused rollout does not progress: its status depends only on the available replicas. */
function deploymentStatus(object: unknown, status: Fields): WorkloadStatus {
  const spec = recordIn(object, 'spec');
  const desired = count(spec, 'replicas', 1);
  if (desired === 0) return count(status, 'replicas') === 0 ? 'stopped' : 'progressing';
  if (hasCondition(status, 'Progressing', 'False') || hasCondition(status, 'ReplicaFailure'))
    return 'degraded';
  const isPaused = spec['paused'] === true;
  const updated = count(status, 'updatedReplicas');
  if (!isPaused && (updated < desired || count(status, 'replicas') > updated)) return 'progressing';
  if (count(status, 'availableReplicas') >= desired) return 'available';
  // After a complete rollout, replicas became unavailable.
  const isRolledOut = conditionOf(status, 'Progressing')?.['reason'] === 'NewReplicaSetAvailable';
  return isPaused || isRolledOut ? 'degraded' : 'progressing';
}

function statefulSetStatus(object: unknown, status: Fields): WorkloadStatus {
  const spec = recordIn(object, 'spec');
  const desired = count(spec, 'replicas', 1);
  if (desired === 0) return count(status, 'replicas') === 0 ? 'stopped' : 'progressing';
  if (count(status, 'replicas') !== desired || isUpdating(spec, status, desired)) return 'progressing';
  return count(status, 'availableReplicas', count(status, 'readyReplicas')) >= desired
    ? 'available'
    : 'degraded';
}

/**
 * Returns true during a rolling update. With a partition, the update ends when the pods from this ordinal on are updated,
 * and the revisions continue to differ. With `OnDelete`, the user deletes the pods at any time.
 */
function isUpdating(spec: Fields, status: Fields, desired: number): boolean {
  if (isOnDelete(spec) || status['updateRevision'] === status['currentRevision']) return false;
  const partition = count(recordIn(recordIn(spec, 'updateStrategy'), 'rollingUpdate'), 'partition');
  return partition === 0 || count(status, 'updatedReplicas') < desired - partition;
}

function isOnDelete(spec: Fields): boolean {
  return recordIn(spec, 'updateStrategy')['type'] === 'OnDelete';
}

function daemonSetStatus(object: unknown, status: Fields): WorkloadStatus {
  const desired = count(status, 'desiredNumberScheduled');
  if (desired === 0) return 'stopped';
  if (count(status, 'currentNumberScheduled') < desired) return 'progressing';
  const isUpdated = count(status, 'updatedNumberScheduled') >= desired;
  if (!isUpdated && !isOnDelete(recordIn(object, 'spec'))) return 'progressing';
  return count(status, 'numberAvailable') >= desired ? 'available' : 'degraded';
}

function replicaSetStatus(object: unknown, status: Fields): WorkloadStatus {
  const desired = count(recordIn(object, 'spec'), 'replicas', 1);
  if (desired === 0) return count(status, 'replicas') === 0 ? 'stopped' : 'progressing';
  if (hasCondition(status, 'ReplicaFailure')) return 'degraded';
  if (count(status, 'replicas') !== desired) return 'progressing';
  return count(status, 'availableReplicas') >= desired ? 'available' : 'degraded';
}

function cronJobStatus(object: unknown): string {
  if (isDeleted(object)) return 'Terminating';
  return recordIn(object, 'spec')['suspend'] === true ? 'Suspended' : 'Active';
}

/** The words of kubectl's column STATUS. */
function jobStatus(object: unknown): string {
  const status = recordIn(object, 'status');
  if (hasCondition(status, 'Complete')) return 'Complete';
  if (hasCondition(status, 'Failed')) return 'Failed';
  if (isDeleted(object)) return 'Terminating';
  if (hasCondition(status, 'Suspended')) return 'Suspended';
  if (hasCondition(status, 'FailureTarget')) return 'FailureTarget';
  return hasCondition(status, 'SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}
