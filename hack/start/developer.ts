// Generates the manifest of the ServiceAccount for the example commands that `npm start` prints.
import { stringify } from 'yaml';
import type { Names } from '../generate/names.ts';

/** ServiceAccount for curl: reads nodes, metrics, and namespaced objects with their logs. */
export const DEVELOPER = 'developer';

/** The ServiceAccount and its bindings, as YAML. */
export function developerAccount({ platform, namespace }: Names): string {
  const binding = (role: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${role}:${DEVELOPER}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: DEVELOPER, namespace }],
  });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DEVELOPER, namespace } },
    binding(`${platform}-nodes-reader`),
    binding(`${platform}-metrics-reader`),
    binding(`${platform}-logs-reader`),
    // Includes get pods/log in all namespaces.
    binding('view'),
  ]
    .map((document) => stringify(document))
    .join('---\n');
}
