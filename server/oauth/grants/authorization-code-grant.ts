// Handles the authorization_code grant (RFC 6749, 4.1.3) with PKCE. The exchange creates two objects with names from the
// code: the session, and a mark that stays when the session is terminated. So each code is used only once.
import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import { AuthorizationCodeFormSchema } from '../../../apis/oauth/forms.ts';
import { invalidRequest, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import {
  type AuthorizationCode,
  AuthorizationCodes,
  type AuthorizationCodesOptions,
  CODE_LIFETIME_MS,
  challengeOf,
  isUsedMark,
  MARKS_PER_CLIENT,
  usedMark,
} from '../codes/authorization-code.ts';
import {
  beginSession,
  type CodeExchangeOptions,
  endReplayed,
  invalidCode,
  pendingSession,
} from '../codes/session-code.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import {
  isCurrent,
  NO_CLIENT,
  readAfterLostResponse,
  type Session,
  type SessionStore,
  type StoredSession,
} from '../sessions/session.ts';
import { newRefreshToken } from '../sessions/session-creator.ts';
import type { TokenResponse } from '../tokens/token-issuer.ts';
import { checkFresh, type Grant, type TokenRequest } from './grant.ts';

interface AuthorizationCodeGrantOptions extends CodeExchangeOptions, AuthorizationCodesOptions {
  readonly sessions: Pick<
    SessionStore,
    'fresh' | 'newID' | 'get' | 'read' | 'create' | 'replace' | 'delete' | 'ofUser'
  >;
}

const FORM = new FormDecoder(AuthorizationCodeFormSchema);

/** Bounded, because the client waits for it while the cluster may be unavailable. */
const CLEANUP_TIMEOUT_MS = 3_000;
const RETRY_SECONDS = 30;
const SIGNED_OUT = 'the user has signed out, or signed in again';

export class AuthorizationCodeGrant implements Grant {
  readonly #options: AuthorizationCodeGrantOptions;
  readonly #codes: AuthorizationCodes;

  constructor(options: AuthorizationCodeGrantOptions) {
    this.#options = options;
    this.#codes = new AuthorizationCodes(options);
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { client, form, signal } = request;
    const { code: text, redirect_uri: redirectURI, code_verifier: verifier } = FORM.decode(form);
    // Without a verifier, only a code that was issued without a challenge is valid.
    if (verifier === undefined && client.requiresPKCE) throw invalidRequest('code_verifier is missing');
    checkFresh(this.#options);
    const challenge = verifier === undefined ? '' : challengeOf(verifier);
    const code = this.#codes.open(text, { redirectURI, challenge });
    if (!code) throw invalidCode('the code is malformed');
    // Another client must not be able to terminate the session.
    if (code.clientID !== client.id) throw invalidCode('the code was issued to another client');
    // An old code in a browser history is no sign of theft, and a code of the future would outlive its mark.
    if (Math.abs(this.#options.now() - code.issuedAt) >= CODE_LIFETIME_MS) {
      throw invalidCode('the code has expired');
    }
    if (await this.#isUsed(code, request)) return this.#rejectReplay(code, request);
    if (code.rejection !== undefined) throw invalidCode('the binding of the code does not match');
    const pending = await this.#sessionOf(code, request);
    const { nonce, sessionID } = code;
    const refreshToken = newRefreshToken(sessionID, this.#options.random);
    const beginning = { nonce, refreshToken };
    const { session, response } = await beginSession(pending, beginning, request, this.#options);
    const stored = await this.#redeem(code, session, request);
    await this.#options.limit.deleteSurplus(stored, signal);
    return response;
  }

  /** From the cache, because the exchange finds any mark. Only a code that cannot be exchanged is looked up. */
  async #isUsed({ markID, rejection }: AuthorizationCode, request: TokenRequest): Promise<boolean> {
    const { sessions } = this.#options;
    if (sessions.get(markID)) return true;
    return rejection !== undefined && (await sessions.read(markID, request)) !== undefined;
  }

  /** The session of the code, which has the user and the authentication of the browser session. */
  async #sessionOf(code: AuthorizationCode, request: TokenRequest): Promise<Session> {
    const { sessions } = this.#options;
    const { id, generation } = code.browser;
    let browser = sessions.get(id);
    // The cache may lag behind a sign-in at another replica.
    if (browser?.generation !== generation) browser = await sessions.read(id, request);
    if (browser?.clientID !== NO_CLIENT || browser.generation !== generation || !browser.authentication) {
      throw invalidCode(SIGNED_OUT);
    }
    const { user, userUID, userAgent, authentication } = browser;
    const marks = sessions.ofUser(user).filter((each) => each.clientID === code.clientID && isUsedMark(each));
    if (marks.length >= MARKS_PER_CLIENT) {
      throw temporarilyUnavailable('the user signs on too often', RETRY_SECONDS);
    }
    const { sessionID, clientID, scopes, acr, claims, source, issuedAt: createdAt } = code;
    return pendingSession(
      {
        id: sessionID,
        user,
        userUID,
        clientID,
        scopes,
        source,
        userAgent,
        createdAt,
        refreshHash: '',
        authentication: { ...authentication, ...(acr === undefined ? {} : { acr }) },
        browser: id,
        ...(claims ? { claims } : {}),
      },
      0,
    );
  }

  /** Another exchange of the same code fails, because it can create at most one of the objects. */
  async #redeem(code: AuthorizationCode, session: Session, request: TokenRequest): Promise<StoredSession> {
    const { sessions, random } = this.#options;
    const mark = usedMark(code, session, random(32).toString('hex'));
    const [marked, stored] = await Promise.allSettled([
      this.#create(mark, request),
      this.#create(session, request),
    ]);
    const failed = [marked, stored].flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (failed.some(isAlreadyExists)) return this.#rejectReplay(code, request);
    if (failed.length === 0) failed.push(...(await this.#problems(code, request)));
    if (stored.status === 'fulfilled' && failed.length === 0) return stored.value;
    // The code stays valid for a retry. The version protects the objects of another exchange.
    for (const each of [marked, stored]) {
      if (each.status === 'rejected') continue;
      const signal = AbortSignal.timeout(CLEANUP_TIMEOUT_MS);
      await sessions.delete(each.value.id, signal, each.value).catch(() => undefined);
    }
    throw failed[0];
  }

  /** Why the stored session must not begin, or the error that leaves this unknown. */
  async #problems({ browser }: AuthorizationCode, request: TokenRequest): Promise<readonly unknown[]> {
    try {
      return (await isCurrent(browser, this.#options.sessions, request)) ? [] : [invalidCode(SIGNED_OUT)];
    } catch (error) {
      return [error];
    }
  }

  async #create(session: Session, request: TokenRequest): Promise<StoredSession> {
    const { sessions } = this.#options;
    try {
      return await sessions.create(session, request.signal);
    } catch (error) {
      const written = isAlreadyExists(error)
        ? undefined
        : await readAfterLostResponse(sessions, session, request);
      if (written) return written;
      throw error;
    }
  }

  async #rejectReplay({ sessionID }: AuthorizationCode, request: TokenRequest): Promise<never> {
    const { sessions } = this.#options;
    const session = sessions.get(sessionID) ?? (await sessions.read(sessionID, request));
    if (session) await endReplayed(session, this.#options, request);
    throw invalidCode('the code was already used');
  }
}
