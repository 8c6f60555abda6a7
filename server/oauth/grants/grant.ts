// Interface of the grants at the token endpoint. checkFresh rejects requests while cached sessions, users or
// passwords are stale.
import { temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { Form } from '../http/form.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { SessionValidity } from '../sessions/session-validity.ts';
import type { TokenResponse } from '../tokens/token-issuer.ts';

/** A token request with a well-formed form and an authenticated client. */
export interface TokenRequest {
  readonly client: OAuthClient;
  /** Not decoded: each grant has its own parameters. */
  readonly form: Form;
  /** Client address; behind trusted proxies the forwarded one. */
  readonly source: string;
  readonly userAgent: string;
  /** For audit records. */
  readonly requestID: string;
  readonly signal: AbortSignal;
  /** Shares the seats of lookups. */
  readonly caller: string;
}

export interface Grant {
  /** Throws OAuthError. */
  exchange(request: TokenRequest): Promise<TokenResponse>;
}

interface GrantCaches {
  readonly sessions: Pick<SessionStore, 'fresh'>;
  readonly validity: Pick<SessionValidity, 'synced'>;
}

/** Throws OAuthError 503 while the validity of a code or refresh token cannot be determined. */
export function checkFresh({ sessions, validity }: GrantCaches): void {
  if (sessions.fresh && validity.synced) return;
  throw temporarilyUnavailable('the session cache is stale', 1);
}
