// Handles the password grant (RFC 6749, 4.3), only for clients with `password` in the option `grants`. RFC 9700
// advises against the password grant.
import { isServiceUnavailable, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import { invalidRequest, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import { requestedScopes } from '../http/form.ts';
import type { PasswordSignIn } from '../passwords/password-sign-in.ts';
import { byPassword } from '../sessions/proof.ts';
import type { SessionCreator } from '../sessions/session-creator.ts';
import type { TokenIssuer, TokenResponse } from '../tokens/token-issuer.ts';
import { type Grant, type TokenRequest } from './grant.ts';

export interface PasswordGrantOptions {
  readonly signIn: Pick<PasswordSignIn, 'check'>;
  readonly sessions: Pick<SessionCreator, 'prepare' | 'store'>;
  readonly tokens: Pick<TokenIssuer, 'tokenResponse'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

export class PasswordGrant implements Grant {
  readonly type = 'password';
  readonly #options: PasswordGrantOptions;

  constructor(options: PasswordGrantOptions) {
    this.#options = options;
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { form, client, source, userAgent, requestID, signal } = request;
    const user = form.get('username');
    const password = form.get('password');
    if (user === undefined || password === undefined) {
      throw invalidRequest('username and password are required');
    }
    const scopes = requestedScopes(form.get('scope'), client.scopes);
    const { account, credential } = await this.#options.signIn.check({
      user,
      password,
      method: 'password_grant',
      client: client.id,
      source,
      userAgent,
      requestID,
      signal,
    });
    const { sessions, tokens, now } = this.#options;
    const authentication = byPassword(credential, now());
    const prepared = sessions.prepare({ account, authentication, client, scopes, source, userAgent });
    // The tokens are signed before the session is stored, so that a signing error leaves no session.
    const response = tokens.tokenResponse({ client, account, scopes, ...prepared });
    await sessions.store(prepared.session, signal).catch((error: unknown) => {
      if (!isServiceUnavailable(error)) throw error;
      throw temporarilyUnavailable('cannot store the session', retryAfterSeconds(error) ?? 1, error);
    });
    return response;
  }
}
