// The claims about a user (OpenID Connect Core, 5.1), and where they are: in userinfo responses by scope (5.4), and in ID
// tokens only the groups, because kube-apiserver and programs without a userinfo request read them there.
import type { Account } from '../users/account.ts';

/** The scope of each claim. */
const SCOPE_OF = {
  preferred_username: 'profile',
  name: 'profile',
  email: 'email',
  email_verified: 'email',
  groups: 'groups',
} as const;

type UserClaim = keyof typeof SCOPE_OF;

export const USER_CLAIMS: readonly UserClaim[] = [
  'preferred_username',
  'name',
  'email',
  'email_verified',
  'groups',
];

export type ClaimValues = Partial<Readonly<Record<UserClaim, unknown>>>;

export function userInfoClaims(account: Account, scopes: readonly string[]): ClaimValues {
  return valuesOf(
    account,
    USER_CLAIMS.filter((claim) => scopes.includes(SCOPE_OF[claim])),
  );
}

export function idTokenClaims(account: Account, scopes: readonly string[]): ClaimValues {
  return valuesOf(account, scopes.includes('groups') ? ['groups'] : []);
}

/**
 * `name` falls back to the user name, because some relying parties, for instance Dex, reject a user without `name`. An unknown value is
 * omitted (5.3.2).
 */
function valuesOf(account: Account, claims: readonly UserClaim[]): ClaimValues {
  const { name, displayName, email, emailVerified, groups } = account;
  const values: ClaimValues = {
    preferred_username: name,
    name: displayName || name,
    ...(email === '' ? {} : { email }),
    ...(emailVerified === true ? { email_verified: true } : {}),
    groups,
  };
  return Object.fromEntries(claims.filter((claim) => claim in values).map((claim) => [claim, values[claim]]));
}
