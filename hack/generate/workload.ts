// Generates the manifests of the workload: Namespace, ServiceAccount, Deployment, PodDisruptionBudget, NetworkPolicy
// and ResourceQuota.
import { basename, dirname } from 'node:path';
import packageManifest from '../../package.json' with { type: 'json' };
import { MOUNTED_CONFIGURATION } from '../../server/config/options.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';

/**
 * Priority class of the pods. If necessary, the scheduler evicts other pods for them, because without the server no
 * namespace can be deleted.
 */
const PRIORITY_CLASS = 'system-cluster-critical';

export const SECURE_PORT = { name: 'https', number: 9443 } as const;
export const INSECURE_PORT = { name: 'http', number: 9090 } as const;
export const CONFIGURATION = {
  configMap: `${SERVER}-configuration`,
  directory: dirname(MOUNTED_CONFIGURATION),
  file: basename(MOUNTED_CONFIGURATION),
} as const;
/** Longer than `shutdown.readinessDelay` and the time for requests in flight; a test compares them. */
export const TERMINATION_GRACE_SECONDS = 60;

export const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

export const LABELS = { 'app.kubernetes.io/name': SERVER } as const;

/**
 * Health checks that the readiness probe excludes. A server must serve discovery even if its caches or the CA of the front proxy are
 * not available: without a ready endpoint no namespace of the cluster can be deleted. Until then other requests get 503 with
 * Retry-After. The check `start` makes a new replica wait for them for a limited time, so that a rollout causes no 503.
 */
export const NOT_PROBED = ['informer-sync', 'front-proxy', 'oauth'] as const;
export const READINESS_PATH = `/readyz?${NOT_PROBED.map((check) => `exclude=${check}`).join('&')}`;

export function namespace(names: Names): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: names.namespace,
      labels: {
        'pod-security.kubernetes.io/enforce': 'restricted',
        'pod-security.kubernetes.io/warn': 'restricted',
      },
    },
  };
}

export function serviceAccount(names: Names): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: SERVER, namespace: names.namespace, labels: LABELS },
    automountServiceAccountToken: false,
  };
}

/**
 * Ingress policy. The TLS port is open to all, because no selector matches kube-apiserver, which runs on a host or
 * outside the cluster. Egress depends on the cluster and is not restricted.
 */
export function networkPolicy(names: Names): KubernetesObject {
  const ports = ({ number: port }: { readonly number: number }) => [{ port, protocol: 'TCP' }];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: SERVER, namespace: names.namespace, labels: LABELS },
    spec: {
      podSelector: { matchLabels: LABELS },
      policyTypes: ['Ingress'],
      ingress: [
        { ports: ports(SECURE_PORT) },
        { ports: ports(INSECURE_PORT), from: [{ namespaceSelector: {} }] },
      ],
    },
  };
}

/**
 * Some clusters (GKE) admit pods of critical priority outside kube-system only with a ResourceQuota for their classes.
 * The quota applies to no other pods, and its limit is high.
 */
export function priorityQuota(names: Names): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: SERVER, namespace: names.namespace, labels: LABELS },
    spec: {
      hard: { pods: '1000' },
      scopeSelector: {
        matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: [PRIORITY_CLASS] }],
      },
    },
  };
}

export function podDisruptionBudget(names: Names): KubernetesObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: SERVER, namespace: names.namespace, labels: LABELS },
    spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
  };
}

export function deployment(names: Names): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: SERVER, namespace: names.namespace, labels: LABELS },
    spec: {
      replicas: 2,
      selector: { matchLabels: LABELS },
      // Gives a new pod time to sync its cache before the old one stops.
      minReadySeconds: 5,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: {
          labels: LABELS,
          annotations: { 'kubectl.kubernetes.io/default-container': SERVER },
        },
        spec: {
          serviceAccountName: SERVER,
          automountServiceAccountToken: true,
          // Without this API kube-controller-manager cannot finish the deletion of a namespace.
          priorityClassName: PRIORITY_CLASS,
          terminationGracePeriodSeconds: TERMINATION_GRACE_SECONDS,
          securityContext: POD_SECURITY,
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  podAffinityTerm: {
                    topologyKey: 'kubernetes.io/hostname',
                    labelSelector: { matchLabels: LABELS },
                  },
                },
              ],
            },
          },
          containers: [container()],
          volumes: [{ name: 'configuration', configMap: { name: CONFIGURATION.configMap } }],
        },
      },
    },
  };
}

/**
 * As kubeadm's for kube-apiserver: the restart of a server that is slow because its node is busy makes the node busier, and the
 * other replicas get its load.
 */
export const LIVENESS = { periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 };
/**
 * If kubelet restarts a container without deleting the pod, only this probe removes the pod from the Service. A test compares its
 * time with `shutdown.readinessDelay`.
 */
export const READINESS = { periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 3 };

/** The container of the server, which has all members that the chart changes. */
export function container() {
  const probe = (path: string) => ({ httpGet: { path, port: SECURE_PORT.name, scheme: 'HTTPS' } });
  return {
    name: SERVER,
    image: `${SERVER}:${packageManifest.version}`,
    args: ['--config', MOUNTED_CONFIGURATION],
    env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ports: [
      { name: SECURE_PORT.name, containerPort: SECURE_PORT.number, protocol: 'TCP' },
      { name: INSECURE_PORT.name, containerPort: INSECURE_PORT.number, protocol: 'TCP' },
    ],
    startupProbe: { ...probe('/livez'), periodSeconds: 1, failureThreshold: 60 },
    livenessProbe: { ...probe('/livez'), ...LIVENESS },
    readinessProbe: { ...probe(READINESS_PATH), ...READINESS },
    securityContext: CONTAINER_SECURITY,
    resources: {
      requests: { cpu: '200m', memory: '320Mi' },
      limits: { memory: '1Gi' },
    },
    volumeMounts: [{ name: 'configuration', mountPath: CONFIGURATION.directory, readOnly: true }],
  };
}
