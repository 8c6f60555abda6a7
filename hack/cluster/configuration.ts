// Configuration files of the programs of the real node.
import { stringify } from 'yaml';
import { BUSYBOX_IMAGE } from './stand-in.ts';

export const NODE_NAME = 'ks-node';
/** Folder of the node's state, in memory and only in its mount namespace. */
export const STATE = '/run/ks-cluster';
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';

/** Command line, on the node, of a client of containerd. */
export function containerdCommand(...args: string[]): [string, ...string[]] {
  return ['ctr', `--address=${CONTAINERD_SOCKET}`, '--namespace=k8s.io', ...args];
}

/** Command line, on the node, that imports an archive of images. */
export function importCommand(archive: string): [string, ...string[]] {
  return containerdCommand('images', 'import', '--snapshotter=overlayfs', archive);
}

/** Command line, on the host, that runs a program in the namespaces of a node. */
export function enterCommand(pid: number, command: readonly string[]): [string, ...string[]] {
  return ['nsenter', `--target=${pid}`, '--mount', '--net', '--uts', '--ipc', '--pid', ...command];
}

/** Addresses of one cluster on this machine. */
export interface Addresses {
  readonly node: string;
  /** The end of the veth pair on the host. */
  readonly host: string;
  readonly pods: string;
  readonly services: string;
  /** ClusterIP of the Service `kubernetes`. */
  readonly apiserver: string;
  readonly dns: string;
}

/** See network.sh. */
export function addressesOf(cluster: number): Addresses {
  return {
    node: `198.19.${cluster}.254`,
    host: `198.19.${cluster}.253`,
    pods: `198.19.${cluster}.0/25`,
    services: `198.18.${cluster}.0/24`,
    apiserver: `198.18.${cluster}.1`,
    dns: `198.18.${cluster}.10`,
  };
}

export function containerdConfiguration(packages: string): string {
  const bin = (name: string): string => JSON.stringify(`${packages}/${name}`);
  return `version = 2
root = "${STATE}/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt",
]
[grpc]
address = "${CONTAINERD_SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/library/${BUSYBOX_IMAGE}"
# Without CAP_SYS_RESOURCE no process can lower the score.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = ${bin('usr/sbin/runc')}
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = ${bin('usr/lib/cni')}
conf_dir = "${STATE}/cni"
`;
}

/** Each pod has a veth pair of its own and a route, so that the node needs no bridge. */
export function networkConfiguration({ pods }: Addresses): string {
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'ptp',
        ipam: {
          type: 'host-local',
          dataDir: `${STATE}/addresses`,
          ranges: [[{ subnet: pods }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  });
}

export function kubeletConfiguration(options: {
  readonly cgroup: string;
  readonly addresses: Addresses;
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
}): string {
  const { cgroup, addresses, files } = options;
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: files.ca } },
    authorization: { mode: 'Webhook' },
    tlsCertFile: files.cert,
    tlsPrivateKeyFile: files.key,
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    protectKernelDefaults: true,
    oomScoreAdj: 0,
    clusterDomain: 'cluster.local',
    clusterDNS: [addresses.dns],
    resolvConf: '',
    podLogsDir: `${STATE}/pod-logs`,
    serializeImagePulls: false,
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '10%' },
    evictionPressureTransitionPeriod: '1s',
  });
}

export function proxyConfiguration(kubeconfig: string, { pods }: Addresses): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig },
    clusterCIDR: pods,
    detectLocalMode: 'ClusterCIDR',
    hostnameOverride: NODE_NAME,
    oomScoreAdj: 0,
    // The parameters of conntrack belong to the machine.
    conntrack: { maxPerCore: 0, min: 0, tcpCloseWaitTimeout: '0s', tcpEstablishedTimeout: '0s' },
  });
}
