// What columns, sorting and filters of nodes need, read once when a node arrives.
import { parseResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import { array, record, text, texts } from '../../../apis/reading/unknown-value.ts';
import type { NodeStatus } from '../../../apis/resources/v1alpha3/node-query.ts';

export interface NodeFacts {
  /** RFC 3339, or empty. */
  readonly creationTimestamp: string;
  /** `True`, `False` or `Unknown`, or whatever was reported; undefined without a Ready condition. */
  readonly ready: string | undefined;
  readonly unschedulable: boolean;
  /** Sorted. */
  readonly roles: readonly string[];
  readonly kubeletVersion: string;
  /** The first of its type, which may be empty; undefined when there is none. */
  readonly internalIP: string | undefined;
  readonly externalIP: string | undefined;
  readonly osImage: string;
  readonly kernelVersion: string;
  readonly architecture: string;
  readonly containerRuntime: string;
  readonly status: NodeStatus;
  readonly allocatable: Allocatable;
  /** Values that are too long for any selector are replaced by placeholders; aliases are whole. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** In 10⁻⁹ of a CPU, of a byte, of a pod; -1 when the node does not say. */
export interface Allocatable {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly pods: bigint;
}

/** The annotation that gives an object a second name, behind the platform's domain. */
export const ALIAS_ANNOTATION = 'alias-name';

/** The longest value that a selector may have, as the grammar of labels says. */
const LONGEST_SELECTABLE = 63;
/** Selectors have no such value. */
const NOT_SELECTABLE = '\0';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

function rolesOf(labels: Readonly<Record<string, string>>): string[] {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    const role =
      key === ROLE_LABEL ? value : key.startsWith(ROLE_PREFIX) ? key.slice(ROLE_PREFIX.length) : '';
    if (role !== '') roles.add(role);
  }
  return [...roles].sort();
}

function readyOf(conditions: unknown): string | undefined {
  // The last one counts, as in kube-apiserver's printer.
  const ready = array(conditions)
    .map(record)
    .findLast((condition) => condition['type'] === 'Ready');
  return ready && text(ready['status']);
}

export function nodeFacts(object: unknown): NodeFacts {
  const node = record(object);
  const metadata = record(node['metadata']);
  const status = record(node['status']);
  const info = record(status['nodeInfo']);
  const addresses = array(status['addresses']).map(record);
  const address = (type: string): string | undefined => {
    const first = addresses.find((one) => one['type'] === type);
    return first && text(first['address']);
  };
  return {
    creationTimestamp: text(metadata['creationTimestamp']),
    ready: readyOf(status['conditions']),
    unschedulable: record(node['spec'])['unschedulable'] === true,
    roles: rolesOf(texts(metadata['labels'])),
    kubeletVersion: text(info['kubeletVersion']),
    internalIP: address('InternalIP'),
    externalIP: address('ExternalIP'),
    osImage: text(info['osImage']),
    kernelVersion: text(info['kernelVersion']),
    architecture: text(info['architecture']),
    containerRuntime: text(info['containerRuntimeVersion']),
    status: platformStatus(record(node['spec']), status),
    allocatable: allocatableOf(record(status['allocatable'])),
    annotations: selectable(texts(metadata['annotations'])),
  };
}

function allocatableOf(allocatable: Readonly<Record<string, unknown>>): Allocatable {
  const amount = (resource: string): bigint =>
    parseResourceQuantity(text(allocatable[resource]))?.nanos ?? -1n;
  return { cpu: amount('cpu'), memory: amount('memory'), pods: amount('pods') };
}

function selectable(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotations)) {
    const whole = value.length <= LONGEST_SELECTABLE || key.endsWith(`/${ALIAS_ANNOTATION}`);
    kept[key] = whole ? value : NOT_SELECTABLE;
  }
  return kept;
}

/** The words of kubectl's STATUS column: `Ready`, `NotReady` or `Unknown`, and `SchedulingDisabled`. */
export function statusWords(facts: NodeFacts): string[] {
  const ready = facts.ready === undefined ? 'Unknown' : facts.ready === 'True' ? 'Ready' : 'NotReady';
  return facts.unschedulable ? [ready, 'SchedulingDisabled'] : [ready];
}

// The state of a node in the words of the platform's consoles, which is not that of kubectl's STATUS column.
/** Conditions that say something about health, and what a healthy node has there. Others do not count. */
const HEALTHY: ReadonlyMap<string, string> = new Map([
  ['MemoryPressure', 'False'],
  ['DiskPressure', 'False'],
  ['PIDPressure', 'False'],
  ['NetworkUnavailable', 'False'],
  ['Ready', 'True'],
  ['ConfigOK', 'True'],
  ['KubeletReady', 'True'],
]);

/** `spec` and `status` of a node. One that reports no condition is running; `Unknown` is not healthy. */
export function platformStatus(
  spec: Readonly<Record<string, unknown>>,
  status: Readonly<Record<string, unknown>>,
): NodeStatus {
  if (spec['unschedulable'] === true) return 'unschedulable';
  const ill = array(status['conditions']).some((one) => {
    const condition = record(one);
    const healthy = HEALTHY.get(text(condition['type']));
    return healthy !== undefined && condition['status'] !== healthy;
  });
  return ill ? 'warning' : 'running';
}
