import { stringify } from 'yaml';
import type { Names } from '../generate/names.ts';

/** May read nodes, metrics, and what people in namespaces read, logs among it; its tokens are for curl. */
export const DEVELOPER = 'developer';

/** The account and its rights, as YAML. */
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
    // With it, the logs of all pods.
    binding('view'),
  ]
    .map((document) => stringify(document))
    .join('---\n');
}
