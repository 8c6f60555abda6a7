// Generates the RBAC rules in the manifests, for the server and for users. The integration tests run the server with
// exactly these permissions.

import { AUTHENTICATORS } from '../../apis/iam/v1beta1/authenticators-resource.ts';
import { CREDENTIAL } from '../../apis/iam/v1beta1/credential-resource.ts';
import { administratorsGroup, groupName } from '../../apis/iam/v1beta1/group-version.ts';
import { IDENTITY } from '../../apis/iam/v1beta1/identity-resource.ts';
import { SESSION } from '../../apis/iam/v1beta1/session-resource.ts';
import { USER } from '../../apis/iam/v1beta1/user-resource.ts';
import { groupName as loggingGroup } from '../../apis/logging/v1alpha2/group-version.ts';
import { IMPERSONATOR } from '../../server/gateway/impersonator-token.ts';
import { impersonatorPolicy } from './admission.ts';
import { groupVersionsOf } from './groups.ts';
import { CLIENT_SECRETS, INSTALLED_SECRETS, PROVIDER_SECRETS } from './installed-secrets.ts';
import type { KubernetesObject, PolicyRule } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Cluster-wide permissions of the server. */
export function clusterRules(names: Names): PolicyRule[] {
  const apiServices = groupVersionsOf(names).map(({ apiService }) => apiService);
  const iam = [groupName(names.platform)];
  return [
    // Informer cache of nodes.
    { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
    // Namespaces with their creation times: logs of a deleted namespace do not belong to a new one of the same name.
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    // RoleBindings show in which namespaces a caller may have permissions. Each permission is then reviewed.
    { apiGroups: [RBAC], resources: ['rolebindings'], verbs: ['list', 'watch'] },
    // Lists of cluster-scoped kinds, which the role `view` does not contain. The definitions of custom resources have the
    // columns of their lists.
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['list', 'watch'] },
    { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['list', 'watch'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      verbs: ['list', 'watch'],
    },
    // APIServices show which kinds are those of aggregated APIs, which are not cached.
    { apiGroups: ['apiregistration.k8s.io'], resources: ['apiservices'], verbs: ['list', 'watch'] },
    // spec.caBundle of its own APIServices; the server does not create or delete them.
    {
      apiGroups: ['apiregistration.k8s.io'],
      resources: ['apiservices'],
      resourceNames: apiServices,
      verbs: ['patch'],
    },
    // Users, passwords, second factors and sessions. The server authorizes each request of a caller for users with the cluster.
    {
      apiGroups: iam,
      resources: [USER.plural, CREDENTIAL.plural, AUTHENTICATORS.plural, SESSION.plural],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
    },
    // Links of people at identity providers to users. Users and administrators remove them.
    {
      apiGroups: iam,
      resources: [IDENTITY.plural],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
    },
    { apiGroups: iam, resources: [`${USER.plural}/status`], verbs: ['patch'] },
  ];
}

/** Permissions of the server in its own namespace. */
export function namespaceRules(): PolicyRule[] {
  return [
    // The Secrets of secrets.yaml. Not `create`: a new Secret of the type kubernetes.io/service-account-token would give
    // a token of any ServiceAccount of the namespace.
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [...INSTALLED_SECRETS],
      verbs: ['get', 'list', 'watch', 'update'],
    },
    // Secrets of OAuth clients and of identity providers. An operator grants further names with a Role.
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [CLIENT_SECRETS, PROVIDER_SECRETS],
      verbs: ['get', 'list', 'watch'],
    },
    // Throttled accounts, shared by all replicas and kept across restarts.
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [`${SERVER}-login-throttle`],
      verbs: ['get', 'list', 'watch', 'patch'],
    },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    // Leader election of the replica that rotates keys and deletes expired sessions.
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: [SERVER],
      verbs: ['get', 'update'],
    },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
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
    binding(`${names.platform}:${SERVER}`, `${names.platform}:${SERVER}`, subjects),
    // Lists of namespaced kinds, and of custom resources whose roles are aggregated to `view`. It contains no Secrets, but
    // pod logs.
    binding(viewBindingName(names), 'view', subjects),
    // TokenReview and SubjectAccessReview.
    binding(`${names.platform}:${SERVER}:auth-delegator`, 'system:auth-delegator', subjects),
    {
      // ConfigMap extension-apiserver-authentication: CA and names of the front proxy.
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: `${names.platform}:${SERVER}:authentication-reader`, namespace: 'kube-system' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      subjects,
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata: { name: SERVER, namespace: names.namespace },
      rules: namespaceRules(),
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: SERVER, namespace: names.namespace },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: SERVER },
      subjects,
    },
  ];
}

/** Name of the ClusterRoleBinding of the server to the role `view`. */
export function viewBindingName({ platform }: Names): string {
  return `${platform}:${SERVER}:view`;
}

/** Permissions for the pod log API as log store. */
export function podLogsRules(): PolicyRule[] {
  return [
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  ];
}

/**
 * Role and binding for the pod log API as log store. The server can read all pod logs; it authorizes each caller with
 * the cluster before it returns a line. The role `view` contains the same permissions; these remain without it.
 */
export function podLogsAccess(names: Names): KubernetesObject[] {
  return furtherAccess(names, 'pod-logs', podLogsRules());
}

/**
 * Role and binding for `resources.nodes.usageAnnotations`: reads pods to sum up their requests per node. Only for
 * servers without the role `view`, which contains the permission.
 */
export function nodeUsageAccess(names: Names): KubernetesObject[] {
  return furtherAccess(names, 'node-usage', [
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  ]);
}

/** Impersonates any user. RBAC has no wildcard for the keys of `userextras/KEY`, hence `*` in their group. */
export const IMPERSONATION: PolicyRule[] = [
  { apiGroups: [''], resources: ['users', 'groups', 'serviceaccounts'], verbs: ['impersonate'] },
  { apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] },
];

const REQUEST_VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const PATH_VERBS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'];

/**
 * Constrained impersonation (KEP-5284): any user without a reserved name, and ServiceAccounts, for any request. RBAC has no
 * wildcard for the end of a verb.
 */
export const CONSTRAINED_IMPERSONATION: PolicyRule[] = [
  {
    apiGroups: ['authentication.k8s.io'],
    resources: ['*'],
    verbs: ['impersonate:user-info', 'impersonate:serviceaccount'],
  },
  { apiGroups: ['*'], resources: ['*'], verbs: impersonateOn(REQUEST_VERBS) },
  { nonResourceURLs: ['*'], verbs: impersonateOn(PATH_VERBS) },
];

function impersonateOn(verbs: readonly string[]): string[] {
  return ['user-info', 'serviceaccount'].flatMap((mode) =>
    verbs.map((verb) => `impersonate-on:${mode}:${verb}`),
  );
}

/**
 * The ServiceAccount that impersonates callers, and the permission of the server to request short tokens of it. The server
 * itself has no permission to impersonate.
 */
export function impersonationAccess(names: Names, rules: PolicyRule[]): KubernetesObject[] {
  const { namespace } = names;
  const name = `${names.platform}:${IMPERSONATOR}`;
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: IMPERSONATOR, namespace },
      automountServiceAccountToken: false,
    },
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    binding(name, name, [{ kind: 'ServiceAccount', name: IMPERSONATOR, namespace }]),
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata: { name: IMPERSONATOR, namespace },
      rules: [
        {
          apiGroups: [''],
          resources: ['serviceaccounts/token'],
          resourceNames: [IMPERSONATOR],
          verbs: ['create'],
        },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: IMPERSONATOR, namespace },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: IMPERSONATOR },
      subjects: [{ kind: 'ServiceAccount', name: SERVER, namespace }],
    },
    ...impersonatorPolicy(names),
  ];
}

function furtherAccess(names: Names, purpose: string, rules: PolicyRule[]): KubernetesObject[] {
  const name = `${names.platform}:${SERVER}:${purpose}`;
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    binding(name, name, [{ kind: 'ServiceAccount', name: SERVER, namespace: names.namespace }]),
  ];
}

/** Binds the administrators' group, the only binding of a user role by default. */
export function administrators(names: Names): KubernetesObject {
  const group = administratorsGroup(names.platform);
  return binding(`${names.platform}:administrators`, 'cluster-admin', [
    { apiGroup: RBAC, kind: 'Group', name: group },
  ]);
}

/** Unbound roles. They are not aggregated to view, edit and admin, which contain no cluster-scoped nodes either. */
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
      // kube-apiserver requires this permission before it forwards a query. The permission get pods/log decides which lines
      // the response contains. A GET of the collection is a list, and with watch=true a watch.
      metadata: { name: `${names.platform}-logs-reader` },
      rules: [
        { apiGroups: [loggingGroup(names.platform)], resources: ['logs'], verbs: ['get', 'list', 'watch'] },
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

function binding(name: string, role: string, subjects: readonly unknown[]): KubernetesObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects,
  };
}
