// The interface of grants, and what they share: the token response and the check that the caches are fresh.
import type { Static } from 'typebox';
import { temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import type { TokenResponseSchema } from '../../../apis/oauth/forms.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { PreparedSession } from '../sessions/session-creator.ts';
import type { TokenIssuer, TokenSubject } from '../tokens/token-issuer.ts';
import type { CredentialDirectory, UserDirectory } from '../users/account.ts';

/** A token request with a well-formed form and an authenticated client. */
export interface TokenRequest {
  readonly client: OAuthClient;
  readonly form: ReadonlyMap<string, string>;
  /** Client address; behind trusted proxies the forwarded one. */
  readonly source: string;
  readonly userAgent: string;
  /** For audit records. */
  readonly requestID: string;
  readonly signal: AbortSignal;
}

/** RFC 6749, 5.1. */
export type TokenResponse = Readonly<Static<typeof TokenResponseSchema>>;

export interface Grant {
  /** `grant_type`. */
  readonly type: string;
  /** Throws OAuthError. */
  exchange(request: TokenRequest): Promise<TokenResponse>;
}

export interface GrantedSession extends TokenSubject, Pick<PreparedSession, 'refreshToken'> {
  /** `nonce` of the authorization request. */
  readonly nonce?: string;
}

/** Signs the tokens of a session, which need not be stored yet; with an ID token for the scope `openid`. */
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

export interface GrantCaches {
  readonly sessions: Pick<SessionStore, 'fresh'>;
  readonly users: Pick<UserDirectory, 'synced'>;
  readonly credentials: Pick<CredentialDirectory, 'synced'>;
}

/** Throws OAuthError 503 while the validity of a code or refresh token cannot be determined. */
export function checkFresh({ sessions, users, credentials }: GrantCaches): void {
  if (sessions.fresh && users.synced && credentials.synced) return;
  throw temporarilyUnavailable('the session cache is stale', 1);
}
