// Userinfo (OpenID Connect Core, 5.3): what the user object says about the owner of an access token, as far as its scopes
// allow. Groups and names are the current ones, not those from when the token was made.
import { methodNotAllowed, OAuthError } from '../../../apis/oauth/errors.ts';
import type { Handler } from '../../request/request-context.ts';
import { writeJSON } from '../http/json-answer.ts';
import type { AccessTokenVerifier } from '../tokens/access-token.ts';
import { scopedClaims } from '../tokens/scoped-claims.ts';
import type { UserDirectory } from '../users/account.ts';
import { bearerClaims } from './bearer-claims.ts';

export interface UserInfoOptions {
  readonly verifier: AccessTokenVerifier;
  readonly users: UserDirectory;
}

const METHODS = ['GET', 'HEAD', 'POST'];

export function userInfoHandler({ verifier, users }: UserInfoOptions): Handler {
  return async (context) => {
    const { method = '' } = context.request;
    if (!METHODS.includes(method)) throw methodNotAllowed(METHODS.join(', '));
    const claims = await bearerClaims(context, verifier);
    if (!claims) throw unidentified();
    const scopes = claims.scope?.split(' ') ?? [];
    const account = users.get(claims.sub);
    writeJSON(context.response, { sub: claims.sub, ...(account ? scopedClaims(account, scopes) : {}) });
  };
}

/** RFC 6750, 3.1: a request without a token is told the scheme, without an error code. */
function unidentified(): OAuthError {
  return new OAuthError(401, 'login_required', 'an access token is needed', {
    challenge: 'Bearer realm="oauth"',
  });
}
