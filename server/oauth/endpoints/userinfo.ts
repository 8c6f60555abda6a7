// Userinfo endpoint (OpenID Connect Core, 5.3): returns claims of the user of an access token. The scopes of the
// access token limit the claims.
import { methodNotAllowed, OAuthError } from '../../../apis/oauth/errors.ts';
import type { Handler } from '../../request/request-context.ts';
import { writeJSON } from '../http/response.ts';
import type { AccessTokenVerifier } from '../tokens/access-token.ts';
import { scopedClaims } from '../tokens/token-issuer.ts';
import type { UserDirectory } from '../users/account.ts';
import { bearerClaims } from './presented-tokens.ts';

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
    if (!claims) throw tokenMissing();
    const scopes = claims.scope?.split(' ') ?? [];
    const account = users.get(claims.sub);
    writeJSON(context.response, { sub: claims.sub, ...(account ? scopedClaims(account, scopes) : {}) });
  };
}

/** RFC 6750, 3.1: the challenge for a request without a token has no error code. */
function tokenMissing(): OAuthError {
  return new OAuthError(401, 'login_required', 'the access token is missing', {
    challenge: 'Bearer realm="oauth"',
  });
}
