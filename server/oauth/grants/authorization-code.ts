// The code grant: RFC 6749, 4.1.3 with PKCE. Why a code works once: codes/session-code.ts.
import { invalidRequest } from '../../../apis/oauth/errors.ts';
import { boundHash, CODE_LIFETIME_MS, parseCode } from '../codes/authorization-code.ts';
import { challengeOf } from '../codes/challenge.ts';
import { CodeExchange, type CodeExchangeOptions, refused } from './code-exchange.ts';
import type { Grant, TokenRequest, TokenResponse } from './grant.ts';
import { checkSight } from './sight.ts';

export class AuthorizationCodeGrant implements Grant {
  readonly type = 'authorization_code';
  readonly #options: CodeExchangeOptions;
  readonly #exchange: CodeExchange;

  constructor(options: CodeExchangeOptions) {
    this.#options = options;
    this.#exchange = new CodeExchange(options);
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { client, form, signal } = request;
    const code = parseCode(required(form, 'code'));
    const redirectURI = required(form, 'redirect_uri');
    // Without one, only a code counts that was asked for without a challenge.
    const verifier = client.requiresPKCE ? required(form, 'code_verifier') : form.get('code_verifier');
    checkSight(this.#options);
    if (!code) throw refused('the code is malformed');
    // Usually another replica made the session a moment ago. If the cache is behind, the update fails and shows it.
    const { sessions } = this.#options;
    const session = sessions.get(code.sessionID) ?? (await sessions.read(code.sessionID, signal));
    if (!session) throw refused('the code has expired, or its session has ended');
    const challenge = verifier === undefined ? undefined : challengeOf(verifier);
    const hash =
      verifier !== undefined && challenge === undefined
        ? undefined
        : boundHash(code, { clientID: client.id, redirectURI, challenge });
    return this.#exchange.begin({ code, hash, watchedMs: CODE_LIFETIME_MS }, session, request);
  }
}

function required(form: TokenRequest['form'], name: string): string {
  const value = form.get(name);
  if (value === undefined) throw invalidRequest(`${name} is missing`);
  return value;
}
