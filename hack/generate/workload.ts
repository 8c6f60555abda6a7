// What runs: the Deployment, and what it needs beside it.
import packageManifest from '../../package.json' with { type: 'json' };
import type { KubernetesObject } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';

/** So that the scheduler makes room for it: without it no namespace can be deleted. */
const PRIORITY_CLASS = 'system-cluster-critical';

export const SECURE_PORT = { name: 'https', number: 9443 } as const;
export const INSECURE_PORT = { name: 'http', number: 9090 } as const;
export const CONFIGURATION = {
  configMap: `${SERVER}-configuration`,
  directory: '/etc/ks-apiserver',
  file: 'configuration.yaml',
} as const;
/** Longer than the readiness delay and the drain of the configuration together; a test compares them. */
export const TERMINATION_GRACE_SECONDS = 60;

export const LABELS = { 'app.kubernetes.io/name': SERVER } as const;

/**
 * A server whose cache is not filled (no right to list nodes, say), or that does not know the front proxy yet, still
 * has to get the aggregator's requests: without a ready endpoint its discovery is gone, and with it the deletion of
 * every namespace in the cluster. So the probe leaves these checks out; what cannot be answered is answered with 503
 * and Retry-After.
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
 * Who may connect. kube-apiserver comes from a host, or from outside of the cluster, where no selector finds it; so the
 * TLS port stays open to all. What the server connects to depends on the cluster, and is left free.
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
 * Clusters can admit Pods of the critical priority classes outside kube-system only where a quota names these (GKE does).
 * It counts no other Pods, and bounds nothing that anybody would want to run.
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
      // The old pod stays until the new one has had the time to fill its cache.
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
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            runAsGroup: 1000,
            seccompProfile: { type: 'RuntimeDefault' },
          },
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

function container(): object {
  const probe = (path: string) => ({ httpGet: { path, port: SECURE_PORT.name, scheme: 'HTTPS' } });
  return {
    name: SERVER,
    image: `${SERVER}:${packageManifest.version}`,
    args: ['--config', `${CONFIGURATION.directory}/${CONFIGURATION.file}`],
    env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ports: [
      { name: SECURE_PORT.name, containerPort: SECURE_PORT.number, protocol: 'TCP' },
      { name: INSECURE_PORT.name, containerPort: INSECURE_PORT.number, protocol: 'TCP' },
    ],
    startupProbe: { ...probe('/livez'), periodSeconds: 1, failureThreshold: 60 },
    livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    readinessProbe: { ...probe(READINESS_PATH), periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    resources: {
      requests: { cpu: '200m', memory: '320Mi' },
      limits: { memory: '1Gi' },
    },
    volumeMounts: [{ name: 'configuration', mountPath: CONFIGURATION.directory, readOnly: true }],
  };
}
