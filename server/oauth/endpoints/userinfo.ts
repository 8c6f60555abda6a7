// Userinfo endpoint (OpenID Connect Core, 5.3): returns claims of the user of an access token, by the scopes of the access token
// and the `claims` parameter of the authorization request.
import type { IncomingMessage } from 'node:http';
import { UserInfoFormSchema } from '../../../apis/oauth/forms.ts';
import { OAuthError } from '../../../apis/oauth/oauth-error.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { writeJSON } from '../http/oauth-response.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { SessionValidity } from '../sessions/session-validity.ts';
import type { AccessTokenVerifier } from '../tokens/access-token.ts';
import { userInfoClaims } from '../users/user-claims.ts';
import { accessTokenClaims, bearerToken } from './presented-tokens.ts';

interface UserInfoOptions {
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly verifier: AccessTokenVerifier;
  readonly sessions: Pick<SessionStore, 'get' | 'read'>;
  readonly validity: Pick<SessionValidity, 'accountOf'>;
}

const FORM = new FormDecoder(UserInfoFormSchema);

export function userInfoHandler({ clients, verifier, sessions, validity }: UserInfoOptions): Handler {
  return async (context) => {
    const token = bearerToken(context.request) ?? (await tokenInBody(context.request));
    if (token === undefined) throw tokenMissing();
    const claims = await accessTokenClaims(token, verifier, context);
    const scopes = claims.scope?.split(' ') ?? [];
    // The cache may lag behind a sign-in at another replica: without the session, groups of the identity provider would be missing.
    const session = sessions.get(claims.sid) ?? (await sessions.read(claims.sid, context));
    const { authentication, claims: requested } = session ?? {};
    const allowed = clients.get(claims.client_id)?.scopes ?? [];
    const account = validity.accountOf({ user: claims.sub, ...(authentication ? { authentication } : {}) });
    const grant = { scopes, requested, allowed };
    writeJSON(context.response, { sub: claims.sub, ...(account ? userInfoClaims(account, grant) : {}) });
  };
}

/** RFC 6750, 2.2. A token in the URL is not accepted, because URLs are logged. */
async function tokenInBody(request: IncomingMessage): Promise<string | undefined> {
  return request.method === 'POST' ? (await FORM.read(request)).access_token : undefined;
}

/** RFC 6750, 3.1: the challenge for a request without a token has no error code. */
function tokenMissing(): OAuthError {
  return new OAuthError(401, 'login_required', 'the access token is missing', {
    challenge: 'Bearer realm="oauth"',
  });
}
