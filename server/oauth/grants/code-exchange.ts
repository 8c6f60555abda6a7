// Exchanges an authorization code or device code for tokens. A second exchange of the same code is rejected.

import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { invalidGrant, OAuthError, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import { familyHash, firstRefreshToken, type SessionCode } from '../codes/session-code.ts';
import type { RandomBytes } from '../keys/key-ring.ts';
import {
  isPending,
  type ObjectVersion,
  readAfterLostResponse,
  type SessionStore,
  type StoredSession,
  sameHash,
} from '../sessions/session.ts';
import { refreshableExpiry } from '../sessions/session-creator.ts';
import type { SessionValidity } from '../sessions/session-validity.ts';
import type { GrantedSession, TokenIssuer, TokenResponse } from '../tokens/token-issuer.ts';
import type { Account } from '../users/account.ts';
import type { TokenRequest } from './grant.ts';

export interface CodeExchangeOptions {
  readonly sessions: Pick<SessionStore, 'fresh' | 'get' | 'read' | 'replace' | 'delete'>;
  readonly validity: Pick<SessionValidity, 'synced' | 'accountOf' | 'confirmedEnd'>;
  readonly tokens: Pick<TokenIssuer, 'tokenResponse'>;
  /** Enforces the limit of sessions per user. */
  readonly limit: { deleteSurplus(created: StoredSession, signal: AbortSignal): Promise<void> };
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

export interface PresentedCode {
  readonly code: SessionCode & { readonly nonce?: string | undefined };
  /** `refreshHash` that the pending session must have; undefined for a code that cannot be valid. */
  readonly hash: string | undefined;
  /** Time after the sign-in during which a replay terminates the session, in ms. */
  readonly replayWindowMs: number;
}

/** Maximum number of writes. A write conflicts if another writer has changed the session, for instance added a label. */
const ATTEMPTS = 5;

export class CodeExchange {
  readonly #options: CodeExchangeOptions;

  constructor(options: CodeExchangeOptions) {
    this.#options = options;
  }

  /** Throws OAuthError, the same for every invalid code. */
  async start(
    presented: PresentedCode,
    session: StoredSession,
    request: TokenRequest,
  ): Promise<TokenResponse> {
    const { client, signal } = request;
    const { random, now, limit } = this.#options;
    const { code, hash } = presented;
    if (session.clientID !== client.id) throw invalidCode('the code was issued to another client');
    if (!isPending(session)) return this.#rejectReplay(presented, session, signal);
    if (hash === undefined || !sameHash(session.refreshHash, hash)) {
      throw invalidCode('the code or its binding does not match');
    }
    const account = await this.#accountOf(session, request);
    const refreshToken = client.grants.includes('refresh_token')
      ? firstRefreshToken(code, random)
      : undefined;
    const end = now() + client.accessTokenLifetime * 1000;
    const started: StoredSession = {
      ...session,
      lastUsedAt: Math.max(now(), session.lastUsedAt),
      ...(refreshToken ? refreshableExpiry(session.createdAt, client) : { notAfter: end, idleNotAfter: end }),
      refreshHash: refreshToken?.hash ?? '',
      familyHash: familyHash(code),
    };
    // The tokens are signed before the code is redeemed: if no key is available, the code stays valid for a retry.
    const response = await this.#sign(
      {
        client,
        account,
        session: started,
        scopes: started.scopes,
        refreshToken: refreshToken?.text,
        nonce: code.nonce,
      },
      signal,
    );
    await limit.deleteSurplus(await this.#redeem(presented, started, request), signal);
    return response;
  }

  /** Deletes the session of a user for whom no token can be signed. */
  async #sign(subject: GrantedSession, signal: AbortSignal): Promise<TokenResponse> {
    const { tokens, sessions } = this.#options;
    try {
      return tokens.tokenResponse(subject);
    } catch (error) {
      if (error instanceof OAuthError) await sessions.delete(subject.session.id, signal);
      throw error;
    }
  }

  /** Writes the started session. The precondition on the version makes a second redemption fail. */
  async #redeem(presented: PresentedCode, session: StoredSession, call: CallContext): Promise<StoredSession> {
    const { sessions } = this.#options;
    const { signal } = call;
    let version: ObjectVersion = session;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const { uid, resourceVersion } = version;
        return await sessions.replace({ ...session, uid, resourceVersion }, signal);
      } catch (error) {
        if (isNotFound(error)) throw invalidCode('the session of the code was terminated');
        if (!isConflict(error)) {
          // The write may have taken effect although its response was lost. Without this read, the retry of the client
          // would count as a replay and terminate the session.
          const written = await readAfterLostResponse(sessions, session, call);
          if (written) return written;
          throw error;
        }
      }
      const current = await sessions.read(session.id, call);
      if (!current) throw invalidCode('the session of the code was terminated');
      if (!isPending(current)) return this.#rejectReplay(presented, current, signal);
      version = current;
    }
    throw temporarilyUnavailable('the session is being modified, try again', 1);
  }

  /**
   * RFC 6749, 4.1.2: a replayed code was probably stolen, so its session is terminated. After the replay window the
   * session is not terminated, because an old code in a browser history is no sign of theft.
   */
  async #rejectReplay(
    { code, replayWindowMs }: PresentedCode,
    session: StoredSession,
    signal: AbortSignal,
  ): Promise<never> {
    const { sessions, now, log } = this.#options;
    const genuine = sameHash(session.familyHash, familyHash(code));
    if (genuine && now() < session.createdAt + replayWindowMs) {
      await sessions.delete(session.id, signal);
      const { id, user, clientID } = session;
      log.warn({ session: id, user, client: clientID }, 'session terminated: its code was used twice');
    }
    throw invalidCode('the code was already used');
  }

  async #accountOf(session: StoredSession, call: CallContext): Promise<Account> {
    const { validity } = this.#options;
    const end = await validity.confirmedEnd(session, call);
    const account = validity.accountOf(session);
    if (!account || end !== undefined) throw invalidCode(end ?? 'user deleted');
    return account;
  }
}

/** The reason goes to the log only. */
export function invalidCode(reason: string): Error {
  return invalidGrant('the code is not valid', new Error(reason));
}
