import type { PreparedSession } from '../sessions/session-opening.ts';
import type { TokenIssuer, TokenSubject } from '../tokens/token-issuer.ts';
import type { TokenResponse } from './grant.ts';

/** What tokens are made of. */
export interface GrantedSession extends TokenSubject, Pick<PreparedSession, 'refreshToken'> {
  /** Of the request that began it. */
  readonly nonce?: string;
}

/** The tokens of a session, which need not be kept yet; an id token when `openid` was asked for. */
export function tokenResponse(
  tokens: Pick<TokenIssuer, 'accessToken' | 'idToken'>,
  { refreshToken, nonce, ...subject }: GrantedSession,
): TokenResponse {
  const { scopes } = subject;
  const access = tokens.accessToken(subject);
  const bound = { accessToken: access.token, ...(nonce === undefined ? {} : { nonce }) };
  return {
    access_token: access.token,
    token_type: 'Bearer',
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    expires_in: access.expiresIn,
    ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
    ...(scopes.includes('openid') ? { id_token: tokens.idToken(subject, bound) } : {}),
  };
}
