import { invalidScope } from '../../../apis/oauth/errors.ts';
import { SCOPES } from '../../../apis/oauth/scopes.ts';

const MAX_LENGTH = 1024;
/** RFC 6749, 3.3: tokens between single spaces. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * The scopes that `scope` asks for, each once, in the order of the request; none when it is absent. Throws OAuthError
 * when it is malformed or asks for one that is not `allowed`: for the client, or at a refresh for its session. With
 * `openid`, those that mean nothing here are left out (OpenID Connect Core, 3.1.2.1): libraries ask for `offline_access`.
 */
export function requestedScopes(scope: string | undefined, allowed: readonly string[]): readonly string[] {
  if (scope === undefined) return [];
  // The length first, so that a long text costs no more than reading it.
  if (scope.length > MAX_LENGTH || !SCOPE.test(scope)) throw invalidScope('the scope is malformed');
  const asked = [...new Set(scope.split(' '))];
  const isKnown = (one: string): boolean => allowed.includes(one) || SCOPES.some((known) => known === one);
  const scopes = asked.includes('openid') ? asked.filter(isKnown) : asked;
  if (!scopes.every((one) => allowed.includes(one))) throw invalidScope('the scope is not allowed');
  return scopes;
}
