// The objects by which kube-apiserver finds the server: Services and APIServices.
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
 * The aggregator follows an ExternalName, so it reaches a server outside the cluster without any pod. An address, since
 * `localhost` is ::1 alone on some machines.
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
 * Priorities: 100 is below every group of kube-apiserver and below custom resources (1000), so that a bare
 * `kubectl get nodes` stays the core one.
 * No caBundle: the server puts its own there, and applying this manifest again leaves that alone.
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
