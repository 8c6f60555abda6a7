// Objects for the example commands of `npm start`: ServiceAccounts with permissions, and objects to search for.
import { stringify } from 'yaml';
import type { Names } from '../generate/names.ts';
import { crashLoopingDeployment } from '../simulation/crash-loop.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** ServiceAccount for curl: reads nodes, metrics, and namespaced objects with their logs. */
export const DEVELOPER = 'developer';

/** ServiceAccount of a tenant with access to two namespaces. */
const TENANT = { name: 'tenant', namespaces: ['payments', 'shop'] } as const;

/** All example objects, as YAML. `nodeName`: the node of the crash-looping pods. */
export function exampleObjects(names: Names, nodeName: string): string {
  return [...developerAccount(names), ...tenantAccount(names), ...shopObjects(nodeName)]
    .map((document) => stringify(document))
    .join('---\n');
}

function developerAccount({ platform, namespace }: Names): object[] {
  const binding = (role: string) => ({
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${role}:${DEVELOPER}` },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: DEVELOPER, namespace }],
  });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DEVELOPER, namespace } },
    binding(`${platform}-nodes-reader`),
    binding(`${platform}-metrics-reader`),
    binding(`${platform}-logs-reader`),
    // Includes get pods/log in all namespaces.
    binding('view'),
  ];
}

function tenantAccount({ namespace: accountNamespace }: Names): object[] {
  const { name, namespaces } = TENANT;
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: accountNamespace } },
    ...namespaces.map((namespace) => ({
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: `view:${name}`, namespace },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name, namespace: accountNamespace }],
    })),
  ];
}

/** Objects of several kinds that a search for `cart` finds, and crash-looping pods. */
function shopObjects(nodeName: string): object[] {
  const namespace = 'shop';
  return [
    crashLoopingDeployment(nodeName),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'cart', namespace },
      spec: { selector: { 'app.kubernetes.io/name': 'cart' }, ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cart-settings', namespace },
      data: { sessionTimeout: '45m' },
    },
  ];
}
