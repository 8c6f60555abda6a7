// Generates the lists of container images in the status of simulated nodes.
import { createHash } from 'node:crypto';

/** Repositories of the images. */
const REPOSITORIES = [
  'registry.example.com/platform/catalog',
  'registry.example.com/platform/cart',
  'registry.example.com/platform/checkout',
  'registry.example.com/platform/payment',
  'registry.example.com/platform/search',
  'registry.example.com/platform/recommendation',
  'registry.example.com/platform/frontend',
  'registry.example.com/platform/mailer',
  'registry.example.com/platform/invoice',
  'registry.example.com/platform/session-store',
  'registry.example.com/mirror/grafana',
  'registry.example.com/mirror/prometheus',
  'registry.example.com/mirror/node-exporter',
  'registry.example.com/mirror/kube-state-metrics',
  'registry.example.com/mirror/cert-manager-controller',
  'registry.example.com/mirror/ingress-controller',
  'registry.example.com/mirror/cluster-autoscaler',
  'registry.example.com/mirror/local-path-provisioner',
  'registry.example.com/mirror/fluent-bit',
  'registry.example.com/mirror/postgres',
  'registry.example.com/mirror/redis',
  'registry.example.com/mirror/rabbitmq',
  'registry.example.com/mirror/nginx',
  'registry.example.com/mirror/busybox',
  'registry.example.com/kubernetes/kube-proxy',
  'registry.example.com/kubernetes/coredns',
  'registry.example.com/kubernetes/pause',
  'registry.example.com/kubernetes/metrics-server',
  'registry.example.com/kubernetes/csi-node-driver',
  'registry.example.com/kubernetes/csi-provisioner',
];

interface NodeImage {
  readonly names: string[];
  readonly sizeBytes: number;
}

/** The images of a node, largest first as the kubelet reports them; neighbouring nodes share most of them. */
export function imagesOf(index: number, count: number): NodeImage[] {
  const images = Array.from({ length: count }, (_, offset) => {
    const which = (index + offset) % REPOSITORIES.length;
    const repository = REPOSITORIES[which] ?? 'registry.example.com/none';
    // Simulates an ongoing rollout: every eighth node has the previous version.
    const tag = `v1.${(which * 7) % 40}.${(index + which) % 8 === 0 ? 3 : 4}`;
    const digest = createHash('sha256').update(`${repository}:${tag}`).digest('hex');
    return {
      names: [`${repository}@sha256:${digest}`, `${repository}:${tag}`],
      sizeBytes: 1_000_000 + (Number.parseInt(digest.slice(0, 8), 16) % 400_000_000),
    };
  });
  return images.sort((left, right) => right.sizeBytes - left.sizeBytes);
}
