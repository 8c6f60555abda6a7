// Generates the Service and APIService manifests that register ks-apiserver with kube-apiserver.
import { groupVersionsOf } from './groups.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';
import { INSECURE_PORT, LABELS, SECURE_PORT } from './workload.ts';

export function service({ namespace }: Names): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVER, namespace, labels: LABELS },
    spec: {
      selector: LABELS,
      ports: [
        { name: 'https', port: 443, targetPort: SECURE_PORT.name, protocol: 'TCP', appProtocol: 'https' },
        { name: 'http', port: 80, targetPort: INSECURE_PORT.name, protocol: 'TCP', appProtocol: 'http' },
      ],
    },
  };
}

/**
 * The aggregator resolves an ExternalName, so it reaches a server outside the cluster. The name is an IP address,
 * because `localhost` is only ::1 on some machines.
 */
export function developmentService({ namespace }: Names): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVER, namespace, labels: LABELS },
    spec: { type: 'ExternalName', externalName: '127.0.0.1' },
  };
}

/**
 * Priority 100 is below all groups of kube-apiserver and custom resources (1000), so that `kubectl get nodes` returns
 * the core nodes. No caBundle: the server sets it with its own field manager.
 */
export function apiServices(names: Names, port = 443): KubernetesObject[] {
  return groupVersionsOf(names).map(({ group, version, apiService }) => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: apiService, labels: LABELS },
    spec: {
      group,
      version,
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { name: SERVER, namespace: names.namespace, port },
    },
  }));
}
