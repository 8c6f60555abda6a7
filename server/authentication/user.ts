// Type of an authenticated user, with the fields of UserInfo in `authentication.k8s.io/v1`. The constants are the
// names of built-in users and groups.

/** The authenticated user of a request, with the fields of UserInfo in `authentication.k8s.io/v1`. */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const ALL_AUTHENTICATED = 'system:authenticated';
export const ALL_UNAUTHENTICATED = 'system:unauthenticated';
export const SYSTEM_MASTERS = 'system:masters';

export const ANONYMOUS: UserInfo = {
  name: 'system:anonymous',
  uid: '',
  groups: [ALL_UNAUTHENTICATED],
  extra: {},
};

/** Names of namespaces (RFC 1123 label) and of ServiceAccounts (subdomain, up to 253 characters). */
const SERVICE_ACCOUNT =
  /^system:serviceaccount:([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?):(?=.{1,253}$)([a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)$/;

/** Returns namespace and name of a ServiceAccount; undefined for another user, also with invalid names, as in kube-apiserver. */
export function serviceAccountOf(
  userName: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(userName) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/**
 * Returns the tenant of a user, for fair queuing and quotas. All ServiceAccounts of a namespace are one tenant, because a user with the
 * permission to create one can create any number.
 */
export function sharerOf({ name }: Pick<UserInfo, 'name'>): string {
  const account = serviceAccountOf(name);
  return account ? `system:serviceaccounts:${account.namespace}` : name;
}

/** Returns the caller of an authenticated user, who shares seats and caches with others. */
export function userCaller(user: Pick<UserInfo, 'name'>): string {
  return `user ${sharerOf(user)}`;
}
