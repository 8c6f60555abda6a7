// The code grant: RFC 6749, 4.1.3 with PKCE. Why a code works once: codes/session-code.ts.
import { invalidRequest } from '../../../apis/oauth/errors.ts';
import { boundHash, CODE_LIFETIME_MS, parseCode } from '../codes/authorization-code.ts';
import { challengeOf } from '../codes/challenge.ts';
import { refused, SessionBeginning, type SessionBeginningOptions } from '../codes/session-beginning.ts';
import type { Grant, TokenRequest, TokenResponse } from './grant.ts';

export class AuthorizationCodeGrant implements Grant {
  readonly type = 'authorization_code';
  readonly #sessions: SessionBeginningOptions['sessions'];
  readonly #beginning: SessionBeginning;

  constructor(options: SessionBeginningOptions) {
    this.#sessions = options.sessions;
    this.#beginning = new SessionBeginning(options);
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { client, form, signal } = request;
    const code = parseCode(required(form, 'code'));
    const redirectURI = required(form, 'redirect_uri');
    const challenge = challengeOf(required(form, 'code_verifier'));
    this.#beginning.checkSight();
    if (!code) throw refused('the code is malformed');
    // Most often another replica made the session, a moment ago. A cache that is behind is found out by the update.
    const session = this.#sessions.get(code.sessionID) ?? (await this.#sessions.read(code.sessionID, signal));
    if (!session) throw refused('the code has expired, or its session has ended');
    const hash =
      challenge === undefined ? undefined : boundHash(code, { clientID: client.id, redirectURI, challenge });
    return this.#beginning.begin({ code, hash, watchedMs: CODE_LIFETIME_MS }, session, request);
  }
}

function required(form: TokenRequest['form'], name: string): string {
  const value = form.get(name);
  if (value === undefined) throw invalidRequest(`${name} is missing`);
  return value;
}
