// The refresh_token grant (RFC 6749, 6): each token is good for one use. One that was used already, however long ago,
// ends the whole session (RFC 9700, 4.14.2), also when a client only repeats a request whose answer it did not get:
// the answer cannot be given again, for the tokens are not kept. Clients that refresh twice at once may be let off: then
// their token stays as it is, which their secret guards (RFC 9700, 2.2.2).
import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import {
  invalidGrant,
  invalidRequest,
  type OAuthError,
  temporarilyUnavailable,
} from '../../../apis/oauth/errors.ts';
import { mayBeBehind } from '../codes/session-code.ts';
import { requestedScopes } from '../http/scopes.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import { writtenAfterAll } from '../sessions/lost-answer.ts';
import { parseRefreshToken, type RefreshToken, sameHash, successor } from '../sessions/refresh-token.ts';
import type { SessionStore, StoredSession } from '../sessions/session.ts';
import { SessionHolders } from '../sessions/session-holders.ts';
import { idleEnd } from '../sessions/session-opening.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';
import type { Account, CredentialDirectory, UserDirectory } from '../users/account.ts';
import type { Grant, TokenRequest, TokenResponse } from './grant.ts';
import { checkSight } from './sight.ts';
import { tokenResponse } from './token-response.ts';

export interface RefreshTokenGrantOptions {
  readonly sessions: SessionStore;
  readonly users: UserDirectory;
  readonly credentials: CredentialDirectory;
  readonly tokens: Pick<TokenIssuer, 'accessToken' | 'idToken'>;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
  readonly observer?: RefreshObserver;
}

export interface RefreshObserver {
  refreshed(client: string): void;
  /** A used token was shown: the session has been ended. */
  reused(client: string): void;
}

/** How often somebody else may have written to the session in between: rotations do not, they end it. */
const ATTEMPTS = 5;
/** Uses of a token that is not rotated count as one for that long: of many at once, one is written. */
const ONE_USE_MS = 10_000;

export class RefreshTokenGrant implements Grant {
  readonly type = 'refresh_token';
  readonly #options: RefreshTokenGrantOptions;
  readonly #holders: SessionHolders;

  constructor(options: RefreshTokenGrantOptions) {
    this.#options = options;
    this.#holders = new SessionHolders(options);
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const text = request.form.get('refresh_token');
    if (text === undefined) throw invalidRequest('refresh_token is missing');
    checkSight(this.#options);
    const token = parseRefreshToken(text);
    if (!token) throw refused('not the form of a refresh token');
    let session = this.#options.sessions.get(token.sessionID);
    // The cache may be behind a rotation at another replica: the cluster is asked about what it does not confirm.
    if (!session || !sameHash(session.refreshHash, token.hash)) {
      const isOther = session && (session.clientID !== request.client.id || !mayBeBehind(session, token));
      if (isOther) throw refused('not a token of this session, or of another client');
      session = await this.#read(token, request);
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (!session) throw refused('there is no such session');
      const answer = await this.#use(token, session, request);
      if (answer) return answer;
      session = await this.#read(token, request);
    }
    throw temporarilyUnavailable('the session is being changed, try again', 1);
  }

  /** Undefined when the session was changed under us: it must be looked at again. */
  async #use(
    token: RefreshToken,
    session: StoredSession,
    request: TokenRequest,
  ): Promise<TokenResponse | undefined> {
    const { client } = request;
    // Another client's token stays untouched: a stranger's request must not end anybody's session.
    if (session.clientID !== client.id) throw refused('the token belongs to another client');
    if (!sameHash(session.refreshHash, token.hash)) {
      if (!sameHash(session.familyHash, token.familyHash)) throw refused('not a token of this session');
      return this.#endReused(session, request);
    }
    const account = await this.#livingUser(session, request.signal);
    // Scopes that the client has lost since are not granted again.
    const granted = session.scopes.filter((scope) => client.scopes.includes(scope));
    const scopes = requestedScopes(request.form.get('scope'), granted);
    return this.#renew(token, session, {
      ...request,
      account,
      scopes: scopes.length > 0 ? scopes : granted,
    });
  }

  /** Undefined as above. */
  async #renew(
    token: RefreshToken,
    session: StoredSession,
    granted: TokenRequest & { readonly account: Account; readonly scopes: readonly string[] },
  ): Promise<TokenResponse | undefined> {
    const { tokens, sessions, random, now, observer } = this.#options;
    const { client, account, scopes, signal } = granted;
    const next = client.rotatesRefreshTokens ? successor(token, random) : token;
    // Signed before the write: a key that is missing must not cost the client its refresh token.
    const subject = { client, account, session, scopes };
    const response = tokenResponse(tokens, { ...subject, refreshToken: next.text });
    const usedAt = Math.max(now(), session.lastUsedAt);
    const used = {
      ...session,
      generation: session.generation + 1,
      refreshHash: next.hash,
      lastUsedAt: usedAt,
      idleNotAfter: idleEnd(usedAt, session.notAfter, client),
    };
    const isWritten = next === token && usedAt < session.lastUsedAt + ONE_USE_MS;
    if (!isWritten && !(await this.#write(used, sessions, signal))) return undefined;
    observer?.refreshed(client.id);
    return response;
  }

  /** False when another write came first. */
  async #write(used: StoredSession, sessions: SessionStore, signal: AbortSignal): Promise<boolean> {
    try {
      await sessions.replace(used, signal);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      if (isNotFound(error)) throw refused('the session has ended');
      // A token that is kept is found in any case, and is good in any case: only this use may not be noted.
      if (await writtenAfterAll(sessions, used, signal)) return true;
      throw unavailable(error);
    }
  }

  /** Undefined when it was changed since it was read: then it may have been rotated, and the token be the new one. */
  async #endReused(session: StoredSession, { client, source, signal }: TokenRequest): Promise<undefined> {
    const { id, user, uid, resourceVersion } = session;
    try {
      await this.#options.sessions.delete(id, signal, { uid, resourceVersion });
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw unavailable(error);
    }
    this.#options.observer?.reused(client.id);
    this.#options.log.warn(
      { session: id, user, client: client.id, source },
      'session ended: a refresh token was used twice, it may have been stolen',
    );
    throw refused('the token was used already');
  }

  /** Only refused: removing what has ended is left to the reaper, for the users known here may be a moment old. */
  async #livingUser(session: StoredSession, signal: AbortSignal): Promise<Account> {
    const end = await this.#holders.settledEnd(session, signal).catch((error: unknown) => {
      throw unavailable(error);
    });
    const account = this.#options.users.get(session.user);
    if (end !== undefined || !account) throw refused(end);
    return account;
  }

  #read(token: RefreshToken, { signal }: TokenRequest): Promise<StoredSession | undefined> {
    return this.#options.sessions.read(token.sessionID, signal);
  }
}

/** One answer outside; the reason goes to the log. */
function refused(reason: string | undefined): OAuthError {
  return invalidGrant('the refresh token is not valid', new Error(reason));
}

function unavailable(cause: unknown): OAuthError {
  return temporarilyUnavailable('the session cannot be kept at the moment', 1, cause);
}
