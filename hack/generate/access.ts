// Who may do what: the rights of the server itself, and the roles that it offers to users. Every right of the server
// is here with its reason; the integration tests run it with exactly these.
import { groupVersionsOf } from './groups.ts';
import type { KubernetesObject, PolicyRule } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** What the server may do in the whole cluster. */
export function clusterRules(names: Names): PolicyRule[] {
  const apiServices = groupVersionsOf(names).map(({ apiService }) => apiService);
  return [
    // The informer cache of nodes.
    { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
    // spec.caBundle of its own APIServices; it neither creates nor deletes one.
    {
      apiGroups: ['apiregistration.k8s.io'],
      resources: ['apiservices'],
      resourceNames: apiServices,
      verbs: ['list', 'watch', 'patch'],
    },
  ];
}

export function serverAccess(names: Names): KubernetesObject[] {
  const subjects = [{ kind: 'ServiceAccount', name: SERVER, namespace: names.namespace }];
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: `${names.platform}:${SERVER}` },
      rules: clusterRules(names),
    },
    binding('ClusterRoleBinding', `${names.platform}:${SERVER}`, `${names.platform}:${SERVER}`, subjects),
    // TokenReview and SubjectAccessReview: kube-apiserver says who a caller is and what they may.
    binding(
      'ClusterRoleBinding',
      `${names.platform}:${SERVER}:auth-delegator`,
      'system:auth-delegator',
      subjects,
    ),
    {
      // ConfigMap extension-apiserver-authentication: which front proxy to trust.
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: `${names.platform}:${SERVER}:authentication-reader`, namespace: 'kube-system' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      subjects,
    },
  ];
}

/** Bound to nobody: nodes are cluster-scoped, so kube-apiserver's own view, edit and admin do not show them either. */
export function userRoles(names: Names): KubernetesObject[] {
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: `${names.platform}-nodes-reader` },
      rules: [
        {
          apiGroups: [`resources.${names.platform}.io`],
          resources: ['nodes'],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: `${names.platform}-metrics-reader` },
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    },
  ];
}

function binding(
  kind: 'ClusterRoleBinding',
  name: string,
  role: string,
  subjects: readonly unknown[],
): KubernetesObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects,
  };
}
