// Generator of Node objects with realistic contents. The contents depend only on the node's index.
import type { Client } from '../control-plane/client.ts';
import type { Progress } from '../terminal/progress.ts';
import { createAll } from './bulk.ts';
import { imagesOf } from './node-images.ts';

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** The fields of a Node that a kubelet sets and the simulation uses. */
export interface NodeObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  readonly spec: {
    podCIDR: string;
    podCIDRs: string[];
    providerID: string;
    unschedulable?: true;
    taints?: Taint[];
  };
  readonly status: {
    addresses: { type: string; address: string }[];
    allocatable: Record<string, string>;
    capacity: Record<string, string>;
    conditions: NodeCondition[];
    daemonEndpoints: { kubeletEndpoint: { Port: number } };
    images: { names: string[]; sizeBytes: number }[];
    nodeInfo: Record<string, string>;
    phase: 'Running';
  };
}

interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
}

/** Boot time of the nodes: constant, so that an index always yields the same node. */
const BOOTED = Date.UTC(2026, 0, 5, 6, 0, 0);
const ZONES = ['a', 'b', 'c'];
const SIZES = [
  { type: 'm6.xlarge', cpu: 4, memory: 16_384_000 },
  { type: 'm6.2xlarge', cpu: 8, memory: 32_768_000 },
  { type: 'c6.4xlarge', cpu: 16, memory: 32_768_000 },
  { type: 'r6.4xlarge', cpu: 16, memory: 131_072_000 },
] as const;

/** Names sort in the order of the index, up to 100,000 nodes. */
export function nodeName(index: number): string {
  return `node-${String(index).padStart(5, '0')}`;
}

/**
 * The node with this index, always the same: about 8 KB of JSON with the metadata of kube-apiserver. Of every hundred
 * nodes, the first is a control-plane node and the fifth is cordoned; every tenth node has a taint.
 */
export function realisticNode(index: number): NodeObject {
  const name = nodeName(index);
  const size = pick(SIZES, index);
  const zone = `region-1${pick(ZONES, index)}`;
  const controlPlane = index % 100 === 0;
  const cordoned = index % 100 === 4;
  const ip = `10.${100 + ((index >> 16) & 0x3f)}.${(index >> 8) & 0xff}.${index & 0xff}`;
  const podCIDR = `10.${170 + ((index >> 8) & 0x3f)}.${index & 0xff}.0/24`;
  const taints = taintsOf(index, controlPlane, cordoned);
  const capacity = {
    cpu: String(size.cpu),
    'ephemeral-storage': '103079200Ki',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    memory: `${size.memory}Ki`,
    pods: '110',
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/instance-type': size.type,
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': size.type,
        [`node-role.kubernetes.io/${controlPlane ? 'control-plane' : 'worker'}`]: '',
        'topology.kubernetes.io/region': 'region-1',
        'topology.kubernetes.io/zone': zone,
      },
      annotations: {
        'node.alpha.kubernetes.io/ttl': '0',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      providerID: `dev:///${zone}/i-${hex(index, 17)}`,
      ...(cordoned ? { unschedulable: true } : {}),
      ...(taints.length > 0 ? { taints } : {}),
    },
    status: {
      addresses: [
        { type: 'InternalIP', address: ip },
        { type: 'Hostname', address: name },
      ],
      allocatable: {
        ...capacity,
        cpu: `${size.cpu * 1000 - 80}m`,
        'ephemeral-storage': '93942290Ki',
        memory: `${size.memory - 1_048_576}Ki`,
      },
      capacity,
      conditions: conditionsOf(index),
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      images: imagesOf(index, 25),
      nodeInfo: {
        architecture: 'amd64',
        bootID: uuid(index, 'b007'),
        containerRuntimeVersion: 'containerd://2.1.4',
        kernelVersion: '6.12.43+deb13-amd64',
        kubeProxyVersion: '',
        kubeletVersion: 'v1.36.3',
        machineID: hex(index, 32),
        operatingSystem: 'linux',
        osImage: 'Debian GNU/Linux 13 (trixie)',
        systemUUID: uuid(index, 'ec2d'),
      },
      phase: 'Running',
    },
  };
}

/** Creates the missing nodes of 0 to `count` - 1. No kubelet updates them. */
export async function createNodes(
  cluster: { client: Client },
  count: number,
  options: { signal: AbortSignal; concurrency?: number; progress?: Progress },
): Promise<void> {
  const nodes = Iterator.from(Array(count).keys()).map((index) => realisticNode(index));
  await createAll(cluster.client, '/api/v1/nodes', nodes, { what: 'nodes', total: count, ...options });
}

function taintsOf(index: number, controlPlane: boolean, cordoned: boolean): Taint[] {
  const taints: Taint[] = [];
  if (controlPlane) {
    taints.push({ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' });
  }
  if (cordoned) {
    taints.push({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' });
  }
  if (index % 10 === 7) {
    taints.push({ key: 'dedicated', value: 'batch', effect: 'PreferNoSchedule' });
  }
  return taints;
}

function conditionsOf(index: number): NodeCondition[] {
  const transition = new Date(BOOTED + (index % 3600) * 1000).toISOString().replace('.000', '');
  const heartbeat = new Date(BOOTED + 86_400_000 + (index % 300) * 1000).toISOString().replace('.000', '');
  const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime: heartbeat,
    lastTransitionTime: transition,
    reason,
    message,
  });
  return [
    condition('NetworkUnavailable', 'False', 'RoutesReady', 'the pod network has its routes'),
    condition(
      'MemoryPressure',
      'False',
      'KubeletHasSufficientMemory',
      'kubelet has sufficient memory available',
    ),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}

function pick<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** Deterministic digits that look random. */
function hex(index: number, length: number): string {
  let state = (index + 1) * 2_654_435_761;
  let digits = '';
  while (digits.length < length) {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) >>> 0;
    digits += state.toString(16).padStart(8, '0');
  }
  return digits.slice(0, length);
}

function uuid(index: number, group: string): string {
  const digits = hex(index + 7, 28);
  return `${digits.slice(0, 8)}-${group}-4${digits.slice(8, 11)}-8${digits.slice(11, 14)}-${digits.slice(14, 26)}`;
}
