// The claims about a user (OpenID Connect Core, 5.1), and where they are: in userinfo responses by scope (5.4), in ID tokens
// only the groups, because kube-apiserver and programs without a userinfo request read them there, and where the client
// requests them one by one (5.5).
import type { Account } from './account.ts';

/** The scope of each claim. */
export const SCOPE_OF = {
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

export function isUserClaim(value: unknown): value is UserClaim {
  return USER_CLAIMS.some((claim) => claim === value);
}

type ClaimValues = Partial<Readonly<Record<UserClaim, unknown>>>;

/** Claims that a client requests in addition to those of its scopes. */
export interface RequestedClaims {
  readonly userinfo: readonly UserClaim[];
  readonly idToken: readonly UserClaim[];
}

interface ClaimsGrant {
  /** Scopes of the token. */
  readonly scopes: readonly string[];
  readonly requested?: RequestedClaims | undefined;
  /** Scopes that the client is allowed to have now; requested claims of others are omitted. */
  readonly allowed: readonly string[];
}

export function userInfoClaims(account: Account, grant: ClaimsGrant): ClaimValues {
  return valuesOf(account, grant, 'userinfo', (claim) => grant.scopes.includes(SCOPE_OF[claim]));
}

export function idTokenClaims(account: Account, grant: ClaimsGrant): ClaimValues {
  return valuesOf(
    account,
    grant,
    'idToken',
    (claim) => claim === 'groups' && grant.scopes.includes('groups'),
  );
}

/**
 * `name` falls back to the user name, because some relying parties, for instance Dex, reject a user without `name`. An unknown value is
 * omitted (5.3.2).
 */
function valuesOf(
  account: Account,
  { scopes, requested, allowed }: ClaimsGrant,
  target: keyof RequestedClaims,
  hasByScope: (claim: UserClaim) => boolean,
): ClaimValues {
  const isRequested = (claim: UserClaim): boolean =>
    scopes.includes('openid') &&
    allowed.includes(SCOPE_OF[claim]) &&
    requested?.[target].includes(claim) === true;
  const claims = USER_CLAIMS.filter((claim) => hasByScope(claim) || isRequested(claim));
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
