// The facts of a node for columns, sorting and filters, extracted once when the node arrives.
import { parseResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import { array, record, text, texts } from '../../../apis/reading/unknown-value.ts';
import type { NodeStatus } from '../../../apis/resources/v1alpha3/node-query.ts';

export interface NodeFacts {
  /** RFC 3339, or empty. */
  readonly creationTimestamp: string;
  /** `True`, `False`, `Unknown` or any other reported value; undefined without a Ready condition. */
  readonly ready: string | undefined;
  readonly unschedulable: boolean;
  /** Sorted. */
  readonly roles: readonly string[];
  readonly kubeletVersion: string;
  /** The first address of its type, possibly empty; undefined without one. */
  readonly internalIP: string | undefined;
  readonly externalIP: string | undefined;
  readonly osImage: string;
  readonly kernelVersion: string;
  readonly architecture: string;
  readonly containerRuntime: string;
  readonly status: NodeStatus;
  readonly allocatable: Allocatable;
  /** Values that exceed the length of a selector value are replaced by a placeholder; aliases are complete. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** In 10⁻⁹ CPUs, bytes and pods; -1 if the node does not report it. */
export interface Allocatable {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly pods: bigint;
}

/** Annotation with the display name of an object, below the platform's domain. */
export const ALIAS_ANNOTATION = 'alias-name';

/** Maximum length of a selector value, by the grammar of labels. */
const LONGEST_SELECTABLE = 63;
/** A value that no selector matches. */
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
  // Of several conditions the last one counts, as in kube-apiserver's printer.
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

/** Conditions that concern the health of a node, with their healthy status. Other conditions are ignored. */
const HEALTHY: ReadonlyMap<string, string> = new Map([
  ['MemoryPressure', 'False'],
  ['DiskPressure', 'False'],
  ['PIDPressure', 'False'],
  ['NetworkUnavailable', 'False'],
  ['Ready', 'True'],
  ['ConfigOK', 'True'],
  ['KubeletReady', 'True'],
]);

/**
 * The status of a node as consoles of the platform show it, which differs from kubectl's STATUS column. A node
 * without conditions is running; `Unknown` is unhealthy.
 */
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
