import { invalidScope } from '../../../apis/oauth/errors.ts';
import { SCOPES } from '../../../apis/oauth/scopes.ts';

const MAX_LENGTH = 1024;
/** RFC 6749, 3.3: scope tokens separated by single spaces. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * The requested scopes without duplicates, in the order of the request; empty when `scope` is absent. Throws OAuthError
 * when `scope` is malformed or contains a scope that is not `allowed` (for the client, or for the session of a refresh).
 * With `openid`, unknown scopes such as `offline_access` are ignored (OpenID Connect Core, 3.1.2.1).
 */
export function requestedScopes(scope: string | undefined, allowed: readonly string[]): readonly string[] {
  if (scope === undefined) return [];
  // Length first: the regular expression runs on bounded input only.
  if (scope.length > MAX_LENGTH || !SCOPE.test(scope)) throw invalidScope('the scope is malformed');
  const requested = [...new Set(scope.split(' '))];
  const isKnown = (one: string): boolean => allowed.includes(one) || SCOPES.some((known) => known === one);
  const scopes = requested.includes('openid') ? requested.filter(isKnown) : requested;
  if (!scopes.every((one) => allowed.includes(one))) throw invalidScope('the scope is not allowed');
  return scopes;
}
