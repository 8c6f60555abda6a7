/** Who a request comes from, as Kubernetes' UserInfo has it. */
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

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;

/**
 * Whose share of what everybody needs is used. All service accounts of a namespace are one: whoever may make one there may
 * make any number.
 */
export function sharerOf({ name }: Pick<UserInfo, 'name'>): string {
  const [, namespace] = SERVICE_ACCOUNT.exec(name) ?? [];
  return namespace === undefined ? name : `system:serviceaccounts:${namespace}`;
}
