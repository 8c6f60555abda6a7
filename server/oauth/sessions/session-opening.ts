import type { Logger } from 'pino';
import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import type { Account, PasswordID } from '../users/account.ts';
import { shownSource, shownUserAgent } from './client-description.ts';
import { newRefreshToken } from './refresh-token.ts';
import type { Session, SessionStore, StoredSession } from './session.ts';

export interface SessionOpeningOptions {
  readonly sessions: Pick<SessionStore, 'newID' | 'create' | 'delete' | 'ofUser'>;
  /** The most that a user has at a time; the one that was not used for longest makes room. */
  readonly sessionsPerUser: number;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Who signs in, at which client, and from where. Scopes are granted ones. */
export interface SignIn {
  readonly account: Account;
  /** The one that was checked. */
  readonly credential: PasswordID;
  readonly client: OAuthClient;
  readonly scopes: readonly string[];
  readonly source: string;
  readonly userAgent: string;
}

/** Known to nobody yet: tokens can be made of it before it is kept. */
export interface PreparedSession {
  readonly session: Session;
  /** Undefined for a client that may not use one. */
  readonly refreshToken: string | undefined;
}

/** Whoever signs in waits for it, while the cluster may be in trouble. */
const TAKE_BACK_MS = 3_000;

export class SessionOpening {
  readonly #options: SessionOpeningOptions;

  constructor(options: SessionOpeningOptions) {
    this.#options = options;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  prepare(signIn: SignIn): PreparedSession {
    const { account, client, credential, scopes, source, userAgent } = signIn;
    const { random, sessions } = this.#options;
    const id = sessions.newID(random);
    const refreshToken = client.grants.includes('refresh_token') ? newRefreshToken(id, random) : undefined;
    const createdAt = this.#options.now();
    const session: Session = {
      id,
      user: account.name,
      userUID: account.uid,
      clientID: client.id,
      scopes,
      source: shownSource(source),
      userAgent: shownUserAgent(userAgent),
      createdAt,
      lastUsedAt: createdAt,
      ...(refreshToken
        ? refreshableUntil(createdAt, client)
        : until(createdAt + client.accessTokenLifetime * 1000)),
      generation: 0,
      refreshHash: refreshToken?.hash ?? '',
      familyHash: refreshToken?.familyHash ?? '',
      ...beginningWith(credential),
    };
    return { session, refreshToken: refreshToken?.text };
  }

  /** Throws AlreadyExists (StatusError) for an id that is taken, ServiceUnavailable without the cluster. */
  async keep(prepared: Session, signal: AbortSignal): Promise<StoredSession> {
    const session = await this.#options.sessions.create(prepared, signal).catch(async (error: unknown) => {
      if (!isAlreadyExists(error)) await this.#takeBack(prepared.id);
      throw error;
    });
    await this.makeRoom(session, signal);
    return session;
  }

  /**
   * An answer that was lost, or a caller who has gone, says nothing about the write: the session may stand, of which nobody
   * has a token. It would take the room of one that is used.
   */
  async #takeBack(id: string): Promise<void> {
    await this.#options.sessions.delete(id, AbortSignal.timeout(TAKE_BACK_MS)).catch(() => undefined);
  }

  /** After the new one is written, so that a sign-in that fails costs nobody another one. */
  async makeRoom(opened: StoredSession, signal: AbortSignal): Promise<void> {
    const { sessions, sessionsPerUser, log } = this.#options;
    const all = sessions.ofUser(opened.user);
    if (all.length < sessionsPerUser) return;
    const others = all.filter(({ id }) => id !== opened.id);
    const surplus = others
      .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt)
      .slice(0, Math.max(0, others.length + 1 - sessionsPerUser));
    for (const { id, user } of surplus) {
      try {
        await sessions.delete(id, signal);
        log.info({ session: id, user, limit: sessionsPerUser }, 'session ended: the user has too many');
      } catch (err) {
        log.warn({ err, session: id, user }, 'a session too many could not be ended');
      }
    }
  }
}

/** By this its password is told from any other one, whatever the clock said that dated it. */
export function beginningWith({
  uid,
  changedAt,
}: PasswordID): Required<Pick<Session, 'passwordAt' | 'credentialUID'>> {
  return { passwordAt: changedAt, credentialUID: uid };
}

/** Idle and absolute end of a session that can be refreshed. It does not end before its first access token does. */
export function refreshableUntil(
  createdAt: number,
  client: OAuthClient,
): { readonly notAfter: number; readonly idleNotAfter: number } {
  const notAfter = createdAt + client.sessionLifetime * 1000;
  return { notAfter, idleNotAfter: idleEnd(createdAt, notAfter, client) };
}

/** When a session that is used now ends unless it is used again. */
export function idleEnd(usedAt: number, notAfter: number, client: OAuthClient): number {
  const seconds = Math.max(client.refreshIdleLifetime, client.accessTokenLifetime);
  return Math.min(notAfter, usedAt + seconds * 1000);
}

function until(end: number): { readonly notAfter: number; readonly idleNotAfter: number } {
  return { notAfter: end, idleNotAfter: end };
}
