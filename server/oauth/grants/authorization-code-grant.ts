// Handles the authorization_code grant (RFC 6749, 4.1.3) with PKCE. session-code.ts ensures that each code is used
// only once.
import { invalidRequest } from '../../../apis/oauth/oauth-error.ts';
import { boundHash, CODE_LIFETIME_MS, challengeOf, parseCode } from '../codes/authorization-code.ts';
import type { TokenResponse } from '../tokens/token-issuer.ts';
import { CodeExchange, type CodeExchangeOptions, invalidCode } from './code-exchange.ts';
import { checkFresh, type Grant, type TokenRequest } from './grant.ts';

export class AuthorizationCodeGrant implements Grant {
  readonly type = 'authorization_code';
  readonly #options: CodeExchangeOptions;
  readonly #exchange: CodeExchange;

  constructor(options: CodeExchangeOptions) {
    this.#options = options;
    this.#exchange = new CodeExchange(options);
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { client, form } = request;
    const code = parseCode(required(form, 'code'));
    const redirectURI = required(form, 'redirect_uri');
    // Without a verifier, only a code that was issued without a challenge is valid.
    const verifier = client.requiresPKCE ? required(form, 'code_verifier') : form.get('code_verifier');
    checkFresh(this.#options);
    if (!code) throw invalidCode('the code is malformed');
    // A session that another replica has just created may not be cached yet. A stale cached session is harmless: its update
    // fails with a conflict.
    const { sessions } = this.#options;
    const session = sessions.get(code.sessionID) ?? (await sessions.read(code.sessionID, request));
    if (!session) throw invalidCode('the code has expired, or its session was terminated');
    const challenge = verifier === undefined ? undefined : challengeOf(verifier);
    const hash =
      verifier !== undefined && challenge === undefined
        ? undefined
        : boundHash(code, { clientID: client.id, redirectURI, challenge });
    return this.#exchange.start({ code, hash, replayWindowMs: CODE_LIFETIME_MS }, session, request);
  }
}

function required(form: TokenRequest['form'], name: string): string {
  const value = form.get(name);
  if (value === undefined) throw invalidRequest(`${name} is missing`);
  return value;
}
