import type { Account } from '../users/account.ts';

/**
 * What the scopes of a client let it know about a user, in id tokens and from userinfo alike (OpenID Connect Core, 5.4).
 * Everybody is called something: programs such as Dex let nobody in who has no `name`.
 */
export function scopedClaims(
  { name, displayName, email, groups }: Account,
  scopes: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    ...(scopes.includes('profile') ? { preferred_username: name, name: displayName || name } : {}),
    ...(scopes.includes('email') && email !== '' ? { email } : {}),
    ...(scopes.includes('groups') ? { groups } : {}),
  };
}
