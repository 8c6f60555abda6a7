// Handles the password grant (RFC 6749, 4.3), only for clients with `password` in the option `grants`. RFC 9700
// advises against the password grant.
import { isServiceUnavailable, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import { PasswordFormSchema } from '../../../apis/oauth/forms.ts';
import { temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import { requestedScopes } from '../http/form.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import type { PasswordSignIn } from '../passwords/password-sign-in.ts';
import type { SessionCreator } from '../sessions/session-creator.ts';
import type { TokenIssuer, TokenResponse } from '../tokens/token-issuer.ts';
import type { Grant, TokenRequest } from './grant.ts';

interface PasswordGrantOptions {
  readonly signIn: Pick<PasswordSignIn, 'check'>;
  readonly sessions: Pick<SessionCreator, 'prepare' | 'store'>;
  readonly tokens: Pick<TokenIssuer, 'tokenResponse'>;
}

const FORM = new FormDecoder(PasswordFormSchema);

export class PasswordGrant implements Grant {
  readonly #options: PasswordGrantOptions;

  constructor(options: PasswordGrantOptions) {
    this.#options = options;
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { form, client, source, userAgent, requestID, signal } = request;
    const { username: user, password, scope } = FORM.decode(form);
    const scopes = requestedScopes(scope, client.scopes);
    const { account, authentication } = await this.#options.signIn.check({
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
