// Who may do what: the rights of the server itself, and the roles that it offers to users. Every right of the server
// is here with its reason; the integration tests run it with exactly these.
import { administratorsGroup } from '../../apis/iam/v1beta1/administrators.ts';
import { CREDENTIAL } from '../../apis/iam/v1beta1/credential.ts';
import { groupName } from '../../apis/iam/v1beta1/group-version.ts';
import { SESSION } from '../../apis/iam/v1beta1/session.ts';
import { USER } from '../../apis/iam/v1beta1/user.ts';
import { groupName as loggingGroup } from '../../apis/logging/v1alpha2/group-version.ts';
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
    // Which namespaces there are and since when: an earlier one's logs are not those of the one with its name.
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    // spec.caBundle of its own APIServices; it neither creates nor deletes one.
    {
      apiGroups: ['apiregistration.k8s.io'],
      resources: ['apiservices'],
      resourceNames: apiServices,
      verbs: ['list', 'watch', 'patch'],
    },
    // Users, passwords and sessions. Whether a caller may change users is checked with the cluster for each request.
    {
      apiGroups: [groupName(names.platform)],
      resources: [USER.plural, CREDENTIAL.plural, SESSION.plural],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
    },
    {
      apiGroups: [groupName(names.platform)],
      resources: [`${USER.plural}/status`],
      verbs: ['patch'],
    },
  ];
}

/** What it may do in its own namespace. */
export function namespaceRules(): PolicyRule[] {
  return [
    // Signing keys, the first administrator's password, secrets of OAuth clients. A right to create cannot name
    // objects, and neither can one to watch those that a configuration names.
    {
      apiGroups: [''],
      resources: ['secrets'],
      verbs: ['get', 'list', 'watch', 'create', 'update'],
    },
    // Names whose passwords were guessed too often, so that all replicas know and a restart forgets nothing.
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [`${SERVER}-login-throttle`],
      verbs: ['get', 'list', 'watch', 'patch'],
    },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    // The election of the replica that rotates keys and removes what has expired.
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
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
    // TokenReview and SubjectAccessReview: kube-apiserver says who a caller is and what they may.
    binding(`${names.platform}:${SERVER}:auth-delegator`, 'system:auth-delegator', subjects),
    {
      // ConfigMap extension-apiserver-authentication: which front proxy to trust.
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

/** What it reads for the log store of the pod log API. */
export function podLogsRules(): PolicyRule[] {
  return [
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  ];
}

/**
 * What it takes to answer log queries out of the pod log API. The server reads what any caller may read, and asks the
 * cluster what that is before it shows a line; an installation with a log store of its own needs none of this.
 */
export function podLogsAccess(names: Names): KubernetesObject[] {
  return furtherAccess(names, 'pod-logs', podLogsRules());
}

/** Beyond that, what it takes to count what pods take of their nodes; for installations that want the numbers. */
export function nodeUsageAccess(names: Names): KubernetesObject[] {
  return furtherAccess(names, 'node-usage', [
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  ]);
}

function furtherAccess(names: Names, purpose: string, rules: PolicyRule[]): KubernetesObject[] {
  const name = `${names.platform}:${SERVER}:${purpose}`;
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    binding(name, name, [{ kind: 'ServiceAccount', name: SERVER, namespace: names.namespace }]),
  ];
}

/** The only right that anybody has from the start: it is the first user's. */
export function administrators(names: Names): KubernetesObject {
  const group = administratorsGroup(names.platform);
  return binding(`${names.platform}:administrators`, 'cluster-admin', [
    { apiGroup: RBAC, kind: 'Group', name: group },
  ]);
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
      // Only lets queries in: kube-apiserver asks for this right before it passes a query on. Which lines are shown depends on
      // the right to get pods/log. It treats a GET of the collection as a list, and with watch=true as a watch.
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
