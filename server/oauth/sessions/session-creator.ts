// Creates a session at sign-in, with the first refresh token. The number of sessions per user is limited.
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { KeyRing, RandomBytes } from '../keys/key-ring.ts';
import type { Account } from '../users/account.ts';
import type { Authentication } from './proof.ts';
import { isPending, NO_CLIENT, type Session, type SessionStore, type StoredSession } from './session.ts';

/** A person has a few devices, and the default client of scripts creates a session at each sign-in. */
export const SESSIONS_PER_USER = 50;

interface SessionCreatorOptions {
  readonly sessions: Pick<SessionStore, 'newID' | 'create' | 'delete' | 'ofUser'>;
  /** Maximum number of sessions per user; beyond it, the least recently used session is deleted. */
  readonly sessionsPerUser: number;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** A successful sign-in: user, client and origin. */
export interface SignIn {
  readonly account: Account;
  readonly authentication: Authentication;
  readonly client: OAuthClient;
  /** Granted scopes. */
  readonly scopes: readonly string[];
  readonly source: string;
  readonly userAgent: string;
}

/** A session that is not stored yet; tokens can already be signed for it. */
interface PreparedSession {
  readonly session: Session;
  /** Undefined for a client without the refresh_token grant. */
  readonly refreshToken: string | undefined;
}

/** Bounded, because the caller waits for it while the cluster may be unavailable. */
const CLEANUP_TIMEOUT_MS = 3_000;

export class SessionCreator {
  readonly #options: SessionCreatorOptions;

  constructor(options: SessionCreatorOptions) {
    this.#options = options;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  prepare(signIn: SignIn): PreparedSession {
    const { account, client, authentication, scopes, source, userAgent } = signIn;
    const { random, sessions } = this.#options;
    const id = sessions.newID(random);
    const refreshToken = client.grants.includes('refresh_token') ? newRefreshToken(id, random) : undefined;
    const createdAt = this.#options.now();
    const end = createdAt + client.accessTokenLifetime * 1000;
    const session: Session = {
      id,
      user: account.name,
      userUID: account.uid,
      clientID: client.id,
      scopes,
      ...sessionOrigin(source, userAgent),
      createdAt,
      lastUsedAt: createdAt,
      ...(refreshToken ? refreshableExpiry(createdAt, client) : { notAfter: end, idleNotAfter: end }),
      generation: 0,
      refreshHash: refreshToken?.hash ?? '',
      familyHash: refreshToken?.familyHash ?? '',
      authentication,
    };
    return { session, refreshToken: refreshToken?.text };
  }

  /** Throws AlreadyExists (StatusError) for a duplicate id, ServiceUnavailable when the cluster is unavailable. */
  async store(prepared: Session, signal: AbortSignal): Promise<StoredSession> {
    const session = await this.#options.sessions.create(prepared, signal).catch(async (error: unknown) => {
      if (!isAlreadyExists(error)) await this.#cleanUp(prepared.id);
      throw error;
    });
    await this.deleteSurplus(session, signal);
    return session;
  }

  /**
   * After a lost response or an aborted request the session may exist, although no client has a token of it. It would
   * count against the limit of sessions per user.
   */
  async #cleanUp(id: string): Promise<void> {
    await this.#options.sessions.delete(id, AbortSignal.timeout(CLEANUP_TIMEOUT_MS)).catch(() => undefined);
  }

  /**
   * Deletes the least recently used sessions of the user beyond the limit. Codes do not count, because any page can request
   * them in the browser of a signed-in user (codes/authorization-code.ts has their limit). Runs after the new session is stored, so that a
   * failed sign-in deletes no other session.
   */
  async deleteSurplus(created: StoredSession, signal: AbortSignal): Promise<void> {
    const { sessions, sessionsPerUser, log } = this.#options;
    const all = sessions.ofUser(created.user).filter((session) => !isPending(session));
    if (all.length < sessionsPerUser) return;
    const others = all.filter(({ id }) => id !== created.id && id !== created.browser);
    const kept = created.browser === undefined ? 1 : 2;
    const surplus = byLastUse(others).slice(0, Math.max(0, others.length + kept - sessionsPerUser));
    for (const { id, user } of surplus) {
      try {
        await sessions.delete(id, signal);
        log.info(
          { session: id, user, limit: sessionsPerUser },
          'session deleted: limit of sessions per user',
        );
      } catch (err) {
        log.warn({ err, session: id, user }, 'cannot delete a session beyond the limit of sessions per user');
      }
    }
  }
}

/**
 * The least recently used sessions first. A browser session is as recent as the last one that began with it, and follows it, because its
 * deletion ends them.
 */
function byLastUse(sessions: readonly StoredSession[]): readonly StoredSession[] {
  const lastUses = new Map(sessions.map(({ id, lastUsedAt }) => [id, lastUsedAt]));
  for (const { browser = '', lastUsedAt } of sessions) {
    const known = lastUses.get(browser);
    if (known !== undefined && known < lastUsedAt) lastUses.set(browser, lastUsedAt);
  }
  const lastUse = ({ id }: StoredSession): number => lastUses.get(id) ?? 0;
  const isBrowser = ({ clientID }: StoredSession): number => Number(clientID === NO_CLIENT);
  return sessions.toSorted((a, b) => lastUse(a) - lastUse(b) || isBrowser(a) - isBrowser(b));
}

/** Expiry of a session with a refresh token. It lives at least as long as its first access token. */
export function refreshableExpiry(
  createdAt: number,
  client: OAuthClient,
): { readonly notAfter: number; readonly idleNotAfter: number } {
  const notAfter = createdAt + client.sessionLifetime * 1000;
  return { notAfter, idleNotAfter: idleExpiry(createdAt, notAfter, client) };
}

/** Idle expiry of a session that was used at `usedAt`. */
export function idleExpiry(usedAt: number, notAfter: number, client: OAuthClient): number {
  const seconds = Math.max(client.refreshIdleLifetime, client.accessTokenLifetime);
  return Math.min(notAfter, usedAt + seconds * 1000);
}

// Limits of the Session object.
const MAX_SOURCE = 64;
const MAX_USER_AGENT = 256;

/** Client-supplied origin, sanitized for terminals: bounded, without control characters or bidirectional overrides. */
export function sessionOrigin(source: string, userAgent: string): Pick<Session, 'source' | 'userAgent'> {
  return { source: printable(source, MAX_SOURCE), userAgent: printable(userAgent, MAX_USER_AGENT) };
}

/** Header fields are ASCII (RFC 9110, 5.5); any other character becomes a question mark. */
function printable(text: string, length: number): string {
  return text
    .slice(0, length)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim();
}

/**
 * A refresh token: `prt_<session id>_<family><secret>`. All rotations of a session share the family; each has a new
 * secret, the MAC of the token before it. Only the hashes are stored.
 */
export interface RefreshToken {
  readonly text: string;
  readonly sessionID: string;
  /** SHA-256 of the whole token, hex. */
  readonly hash: string;
  /** SHA-256 of session id and family, hex. */
  readonly familyHash: string;
}

// Multiples of three, so that each part is whole characters of base64url: 144 and 240 bits.
const FAMILY_BYTES = 18;
const SECRET_BYTES = 30;
const TOKEN = /^prt_(s-[a-z2-7]{20})_([\w-]{24})[\w-]{40}$/;

export function newRefreshToken(sessionID: string, random: RandomBytes): RefreshToken {
  return newToken(sessionID, random(FAMILY_BYTES).toString('base64url'), random(SECRET_BYTES));
}

/** Another token of the same family, with a random secret. */
export function tokenOfFamily(token: RefreshToken, random: RandomBytes): RefreshToken {
  return tokenWith(token, random(SECRET_BYTES));
}

/**
 * The tokens that can follow `token`, one for each MAC key, the one of the newest key first. A token determines its
 * successor, so a repeated refresh gets the same one although no token is stored. Throws ServiceUnavailable (StatusError)
 * while there is no key.
 */
export function successors(
  token: RefreshToken,
  keys: Pick<KeyRing, 'macs'>,
): readonly [RefreshToken, ...RefreshToken[]] {
  const [newest, ...others] = keys.macs('refresh-token', token.text);
  return [tokenAfter(token, newest), ...others.map((mac) => tokenAfter(token, mac))];
}

function tokenAfter(token: RefreshToken, mac: Buffer): RefreshToken {
  return tokenWith(token, mac.subarray(0, SECRET_BYTES));
}

function tokenWith({ text, sessionID }: RefreshToken, secret: Buffer): RefreshToken {
  return newToken(sessionID, TOKEN.exec(text)?.[2] ?? '', secret);
}

export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, sessionID, family] = TOKEN.exec(text) ?? [];
  return sessionID !== undefined && family !== undefined ? withHashes(text, sessionID, family) : undefined;
}

function newToken(sessionID: string, family: string, secret: Buffer): RefreshToken {
  return withHashes(`prt_${sessionID}_${family}${secret.toString('base64url')}`, sessionID, family);
}

function withHashes(text: string, sessionID: string, family: string): RefreshToken {
  return {
    text,
    sessionID,
    hash: hash('sha256', text),
    familyHash: hash('sha256', `${sessionID}_${family}`),
  };
}
