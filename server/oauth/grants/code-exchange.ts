import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { invalidGrant, OAuthError, temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import { familyHash, firstRefreshToken, hasBegun, type SessionCode } from '../codes/session-code.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import { writtenAfterAll } from '../sessions/lost-answer.ts';
import { sameHash } from '../sessions/refresh-token.ts';
import type { ObjectVersion, SessionStore, StoredSession } from '../sessions/session.ts';
import { SessionHolders } from '../sessions/session-holders.ts';
import { refreshableUntil } from '../sessions/session-opening.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';
import type { Account, CredentialDirectory, UserDirectory } from '../users/account.ts';
import type { TokenRequest, TokenResponse } from './grant.ts';
import { type GrantedSession, tokenResponse } from './token-response.ts';

export interface CodeExchangeOptions {
  readonly sessions: Pick<SessionStore, 'fresh' | 'get' | 'read' | 'replace' | 'delete'>;
  readonly users: UserDirectory;
  readonly credentials: CredentialDirectory;
  readonly tokens: Pick<TokenIssuer, 'accessToken' | 'idToken'>;
  /** Ends the sessions that are too many. */
  readonly room: { makeRoom(opened: StoredSession, signal: AbortSignal): Promise<void> };
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** A code as it was presented. */
export interface PresentedCode {
  readonly code: SessionCode & { readonly nonce?: string | undefined };
  /** What the session must hold for it; undefined when nothing can match. */
  readonly hash: string | undefined;
  /** For how long after the sign-in it ends the session to bring the code again, in ms. */
  readonly watchedMs: number;
}

/** How often somebody else may have written to the session in between: its exchange does not, it ends it. */
const ATTEMPTS = 5;

/** Starts a prepared session, once. */
export class CodeExchange {
  readonly #options: CodeExchangeOptions;
  readonly #holders: SessionHolders;

  constructor(options: CodeExchangeOptions) {
    this.#options = options;
    this.#holders = new SessionHolders(options);
  }

  /** The tokens. Throws OAuthError: one answer for all that is wrong. */
  async begin(
    presented: PresentedCode,
    session: StoredSession,
    request: TokenRequest,
  ): Promise<TokenResponse> {
    const { client, signal } = request;
    const { random, now, room } = this.#options;
    const { code, hash } = presented;
    if (session.clientID !== client.id) throw refused('the code is of another client');
    if (hasBegun(session)) return this.#usedAgain(presented, session, signal);
    if (hash === undefined || !sameHash(session.refreshHash, hash)) {
      throw refused('the code, or what it is bound to, is not the one of the request');
    }
    const account = await this.#accountOf(session, signal);
    const refreshToken = client.grants.includes('refresh_token')
      ? firstRefreshToken(code, random)
      : undefined;
    const end = now() + client.accessTokenLifetime * 1000;
    const begun: StoredSession = {
      ...session,
      lastUsedAt: Math.max(now(), session.lastUsedAt),
      ...(refreshToken ? refreshableUntil(session.createdAt, client) : { notAfter: end, idleNotAfter: end }),
      refreshHash: refreshToken?.hash ?? '',
      familyHash: familyHash(code),
    };
    // Signed before the code is used up: a key that is missing must not cost the client its code.
    const response = await this.#signed(
      {
        client,
        account,
        session: begun,
        scopes: begun.scopes,
        refreshToken: refreshToken?.text,
        ...(code.nonce === undefined ? {} : { nonce: code.nonce }),
      },
      signal,
    );
    await room.makeRoom(await this.#useUp(presented, begun, signal), signal);
    return response;
  }

  /** When no token can ever be made for a user, no session is left behind. */
  async #signed(subject: GrantedSession, signal: AbortSignal): Promise<TokenResponse> {
    const { tokens, sessions } = this.#options;
    try {
      return tokenResponse(tokens, subject);
    } catch (error) {
      if (error instanceof OAuthError) await sessions.delete(subject.session.id, signal);
      throw error;
    }
  }

  /** The update that uses the code up: only one can be made of the session as it was read. */
  async #useUp(
    presented: PresentedCode,
    session: StoredSession,
    signal: AbortSignal,
  ): Promise<StoredSession> {
    const { sessions } = this.#options;
    let version: ObjectVersion = session;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const { uid, resourceVersion } = version;
        return await sessions.replace({ ...session, uid, resourceVersion }, signal);
      } catch (error) {
        if (isNotFound(error)) throw refused('the session of the code has ended');
        if (!isConflict(error)) {
          // Without this look the client would bring its code a second time, and lose its login for that.
          const written = await writtenAfterAll(sessions, session, signal);
          if (written) return written;
          throw error;
        }
      }
      const changed = await sessions.read(session.id, signal);
      if (!changed) throw refused('the session of the code has ended');
      if (hasBegun(changed)) return this.#usedAgain(presented, changed, signal);
      // Somebody touched the object, with a label perhaps: the code in it is as good as before.
      version = changed;
    }
    throw temporarilyUnavailable('the session is being changed, try again', 1);
  }

  /**
   * RFC 6749, 4.1.2: a code that comes twice has been seen by somebody whom it was not meant for, so what was made
   * from it ends. Not after its time: then it proves no more than that somebody keeps old addresses.
   */
  async #usedAgain(
    { code, watchedMs }: PresentedCode,
    session: StoredSession,
    signal: AbortSignal,
  ): Promise<never> {
    const { sessions, now, log } = this.#options;
    const genuine = sameHash(session.familyHash, familyHash(code));
    if (genuine && now() < session.createdAt + watchedMs) {
      await sessions.delete(session.id, signal);
      const { id, user, clientID } = session;
      log.warn({ session: id, user, client: clientID }, 'session ended: its code was used twice');
    }
    throw refused('the code was used already');
  }

  async #accountOf(session: StoredSession, signal: AbortSignal): Promise<Account> {
    const end = await this.#holders.settledEnd(session, signal);
    const account = this.#options.users.get(session.user);
    if (!account || end !== undefined) throw refused(end ?? 'user deleted');
    return account;
  }
}

export function refused(cause: string): Error {
  return invalidGrant('the code is not valid', new Error(cause));
}
