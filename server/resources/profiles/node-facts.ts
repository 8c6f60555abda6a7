// Values extracted from a node, in addition to those of every kind, for table columns, filters, sorting and the usage of
// nodes.
import { parseResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import { array, record, recordIn, text, texts } from '../../../apis/reading/unknown-value.ts';

export interface NodeFacts {
  /** Status of the condition Ready: `True`, `False`, `Unknown` or another value. Undefined without the condition. */
  readonly ready: string | undefined;
  readonly unschedulable: boolean;
  /** Roles of the node, sorted. */
  readonly roles: readonly string[];
  readonly kubeletVersion: string;
  /** The first address of the type InternalIP; it can be empty. Undefined without such an address. */
  readonly internalIP: string | undefined;
  readonly externalIP: string | undefined;
  readonly osImage: string;
  readonly kernelVersion: string;
  readonly architecture: string;
  readonly containerRuntime: string;
  readonly allocatable: Allocatable;
}

/** Status of a node, as consoles of the platform define it. */
const PLATFORM_STATUSES = ['running', 'warning', 'unschedulable'] as const;
type PlatformStatus = (typeof PLATFORM_STATUSES)[number];

/** All statuses of nodes: those of consoles, and the words of kubectl. */
export const NODE_STATUSES = [
  ...PLATFORM_STATUSES,
  'Ready',
  'NotReady',
  'Unknown',
  'SchedulingDisabled',
] as const;

/** The allocatable amounts of a node, in 10⁻⁹ of a CPU, a byte or a pod. -1 if the node does not report an amount. */
interface Allocatable {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly pods: bigint;
}

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
  // If there are several conditions of a type, the last one is used, as in kube-apiserver's printer.
  const ready = array(conditions)
    .map(record)
    .findLast((condition) => condition['type'] === 'Ready');
  return ready && text(ready['status']);
}

/** Returns the words that `status` selects; the first one is that of consoles. */
export function nodeStatuses(object: unknown): readonly string[] {
  const [spec, status] = [recordIn(object, 'spec'), recordIn(object, 'status')];
  const kubectl = statusWords({
    ready: readyOf(status['conditions']),
    unschedulable: spec['unschedulable'] === true,
  });
  return [platformStatus(spec, status), ...kubectl];
}

/** Reads the facts of a node. It does not throw. */
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
    allocatable: allocatableOf(record(status['allocatable'])),
  };
}

function allocatableOf(allocatable: Readonly<Record<string, unknown>>): Allocatable {
  const amount = (resource: string): bigint =>
    parseResourceQuantity(text(allocatable[resource]))?.nanos ?? -1n;
  return { cpu: amount('cpu'), memory: amount('memory'), pods: amount('pods') };
}

/** Returns the words of kubectl's column STATUS: `Ready`, `NotReady` or `Unknown`, and `SchedulingDisabled`. */
export function statusWords(facts: Pick<NodeFacts, 'ready' | 'unschedulable'>): string[] {
  const ready = facts.ready === undefined ? 'Unknown' : facts.ready === 'True' ? 'Ready' : 'NotReady';
  return facts.unschedulable ? [ready, 'SchedulingDisabled'] : [ready];
}

/** The conditions that determine the health of a node, and the status of each for a healthy node. */
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
 * Returns the status of a node for consoles of the platform, which differs from kubectl's column STATUS. A node without
 * conditions is `running`. A condition with the status `Unknown` is unhealthy.
 */
export function platformStatus(
  spec: Readonly<Record<string, unknown>>,
  status: Readonly<Record<string, unknown>>,
): PlatformStatus {
  if (spec['unschedulable'] === true) return 'unschedulable';
  const ill = array(status['conditions']).some((one) => {
    const condition = record(one);
    const healthy = HEALTHY.get(text(condition['type']));
    return healthy !== undefined && condition['status'] !== healthy;
  });
  return ill ? 'warning' : 'running';
}
