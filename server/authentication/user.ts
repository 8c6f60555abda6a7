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
