// Handles the authorization_code grant (RFC 6749, 4.1.3) with PKCE. session-code.ts ensures that each code is used
// only once.
import { AuthorizationCodeFormSchema } from '../../../apis/oauth/forms.ts';
import { invalidRequest } from '../../../apis/oauth/oauth-error.ts';
import { boundHash, CODE_LIFETIME_MS, challengeOf, parseCode } from '../codes/authorization-code.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import type { TokenResponse } from '../tokens/token-issuer.ts';
import { CodeExchange, type CodeExchangeOptions, invalidCode } from './code-exchange.ts';
import { checkFresh, type Grant, type TokenRequest } from './grant.ts';

const FORM = new FormDecoder(AuthorizationCodeFormSchema);

export class AuthorizationCodeGrant implements Grant {
  readonly #options: CodeExchangeOptions;
  readonly #exchange: CodeExchange;

  constructor(options: CodeExchangeOptions) {
    this.#options = options;
    this.#exchange = new CodeExchange(options);
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { client, form } = request;
    const { code: text, redirect_uri: redirectURI, code_verifier: verifier } = FORM.decode(form);
    // Without a verifier, only a code that was issued without a challenge is valid.
    if (verifier === undefined && client.requiresPKCE) throw invalidRequest('code_verifier is missing');
    const code = parseCode(text);
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
