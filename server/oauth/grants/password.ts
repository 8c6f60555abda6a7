// The password grant (RFC 6749, 4.3), which the specification asks for. RFC 9700 advises against it: only clients that
// are configured for it may use it, and the sign-in page is the way for all others.
import { isServiceUnavailable, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import { invalidRequest, temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import { requestedScopes } from '../http/scopes.ts';
import type { PasswordSignIn } from '../passwords/sign-in.ts';
import type { SessionOpening } from '../sessions/session-opening.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';
import type { Grant, TokenRequest, TokenResponse } from './grant.ts';
import { tokenResponse } from './token-response.ts';

export interface PasswordGrantOptions {
  readonly signIn: Pick<PasswordSignIn, 'check'>;
  readonly sessions: Pick<SessionOpening, 'prepare' | 'keep'>;
  readonly tokens: Pick<TokenIssuer, 'accessToken' | 'idToken'>;
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
    const { sessions, tokens } = this.#options;
    const prepared = sessions.prepare({ account, credential, client, scopes, source, userAgent });
    // Signed before the session is stored: a sign-in that yields no token must not leave a session behind.
    const response = tokenResponse(tokens, { client, account, scopes, ...prepared });
    await sessions.keep(prepared.session, signal).catch((error: unknown) => {
      if (!isServiceUnavailable(error)) throw error;
      throw temporarilyUnavailable(
        'the session cannot be kept at the moment',
        retryAfterSeconds(error) ?? 1,
        error,
      );
    });
    return response;
  }
}
