// The sessions that begin with one-time codes: device codes and authorization codes.
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { invalidGrant } from '../../../apis/oauth/oauth-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { RandomBytes } from '../keys/key-ring.ts';
import {
  isPending,
  type Session,
  type SessionStore,
  type StoredSession,
  sameHash,
} from '../sessions/session.ts';
import {
  parseRefreshToken,
  type RefreshToken,
  refreshableExpiry,
  tokenOfFamily,
} from '../sessions/session-creator.ts';
import type { SessionValidity } from '../sessions/session-validity.ts';
import type { TokenIssuer, TokenResponse } from '../tokens/token-issuer.ts';

/**
 * An approved device code has a pending session: the field `refreshHash` contains the hash of the code. The exchange updates
 * the object on condition that the resourceVersion is unchanged, so the second of two exchanges conflicts. An authorization
 * code has no object before its exchange (authorization-code.ts).
 */
export interface SessionCode {
  /** Contains at least 256 random bits. */
  readonly text: string;
  readonly sessionID: string;
}

/** `refreshHash` of a pending session, hex; never the hash of a refresh token. The code is valid only with `binding`. */
export function codeHash({ text }: SessionCode, binding: readonly string[]): string {
  return sha256(JSON.stringify([text, ...binding])).toString('hex');
}

/** The fields in which pending sessions differ; `refreshHash` is the hash of the code. */
type PendingFields = Omit<Session, 'lastUsedAt' | 'notAfter' | 'idleNotAfter' | 'generation' | 'familyHash'>;

/** A session whose code is not exchanged yet. It expires after `lifetimeMs`. */
export function pendingSession(session: PendingFields, lifetimeMs: number): Session {
  const { createdAt } = session;
  const notAfter = createdAt + lifetimeMs;
  return {
    ...session,
    lastUsedAt: createdAt,
    notAfter,
    idleNotAfter: notAfter,
    generation: 0,
    familyHash: '',
  };
}

/**
 * Whether the cluster may have a newer version of the cached session in which this refresh token is current. Rotation
 * does not change the family, so a token of another family causes no read.
 */
export function mayBeStale(cached: Session, token: RefreshToken): boolean {
  return isPending(cached) || sameHash(cached.familyHash, token.familyHash);
}

/**
 * The first refresh token of a session that starts with this device code. The code determines its family, so a replayed code
 * is recognized as the code of that session. An authorization code must not: it is part of URLs, and its readers could end the session.
 */
export function firstRefreshToken(code: SessionCode, random: RandomBytes): RefreshToken {
  return tokenOfFamily(familyOf(code), random);
}

/** `familyHash` of the started session. */
export function familyHash(code: SessionCode): string {
  return familyOf(code).familyHash;
}

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

/** What a session begins with. */
interface Beginning {
  readonly nonce?: string | undefined;
  /** Of a client with refresh tokens. Its family becomes that of the session. */
  readonly refreshToken: RefreshToken;
}

/** A session and its tokens. The tokens must not leave the server before the session is stored. */
interface BegunSession<S extends Session> {
  readonly session: S;
  readonly response: TokenResponse;
}

/**
 * Starts the pending session of a code. The tokens are signed before the code is redeemed: if no key is available, the code
 * stays valid for a retry. Throws OAuthError, the same for every invalid code.
 */
export async function beginSession<S extends Session>(
  pending: S,
  { nonce, refreshToken: first }: Beginning,
  request: CallContext & { readonly client: OAuthClient },
  { validity, tokens, now }: CodeExchangeOptions,
): Promise<BegunSession<S>> {
  const { client } = request;
  const ended = await validity.confirmedEnd(pending, request);
  const account = validity.accountOf(pending);
  if (!account || ended !== undefined) throw invalidCode(ended ?? 'user deleted');
  const refreshToken = client.grants.includes('refresh_token') ? first : undefined;
  const end = now() + client.accessTokenLifetime * 1000;
  const session = {
    ...pending,
    lastUsedAt: Math.max(now(), pending.lastUsedAt),
    ...(refreshToken ? refreshableExpiry(pending.createdAt, client) : { notAfter: end, idleNotAfter: end }),
    refreshHash: refreshToken?.hash ?? '',
    familyHash: first.familyHash,
  };
  const { scopes } = session;
  const response = tokens.tokenResponse({
    client,
    account,
    session,
    scopes,
    nonce,
    refreshToken: refreshToken?.text,
  });
  return { session, response };
}

/** Terminates the session of a replayed code, which was probably stolen (RFC 6749, 4.1.2). */
export async function endReplayed(
  { id, user, clientID }: StoredSession,
  { sessions, log }: Pick<CodeExchangeOptions, 'sessions' | 'log'>,
  { signal }: CallContext,
): Promise<void> {
  await sessions.delete(id, signal);
  log.warn({ session: id, user, client: clientID }, 'session terminated: its code was used twice');
}

/** The reason goes to the log only. */
export function invalidCode(reason: string): Error {
  return invalidGrant('the code is not valid', new Error(reason));
}

/** A token that is never issued; only its family is used. */
function familyOf({ sessionID, text }: SessionCode): RefreshToken {
  const family = sha256(`family of ${text}`).subarray(0, 18).toString('base64url');
  const token = parseRefreshToken(`prt_${sessionID}_${family}${'-'.repeat(40)}`);
  if (!token) throw new Error('the format of refresh tokens has changed');
  return token;
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
