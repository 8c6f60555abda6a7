// Represents one-time codes (authorization codes and device codes) as pending sessions. A code is valid once across
// all replicas.
import { hash } from 'node:crypto';
import type { RandomBytes } from '../keys/key-ring.ts';
import { isPending, type Session, sameHash } from '../sessions/session.ts';
import { parseRefreshToken, type RefreshToken, tokenOfFamily } from '../sessions/session-creator.ts';

/**
 * A code and its Session object are created together; the field `refreshHash` contains the hash of the code. The
 * exchange updates the object on condition that the resourceVersion is unchanged, so the second of two exchanges
 * conflicts. Terminating a session also invalidates its code. If the exchange created the object under a name derived
 * from the code, a replay could create it again after a sign-out. Codes need no separate store or key, and the reaper
 * deletes abandoned sessions.
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
export type PendingFields = Omit<
  Session,
  'lastUsedAt' | 'notAfter' | 'idleNotAfter' | 'generation' | 'familyHash'
>;

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
 * The first refresh token of a session that starts with this code. The code determines its family, so a replayed code
 * is recognized as the code of that session.
 */
export function firstRefreshToken(code: SessionCode, random: RandomBytes): RefreshToken {
  return tokenOfFamily(familyOf(code), random);
}

/** `familyHash` of the started session. */
export function familyHash(code: SessionCode): string {
  return familyOf(code).familyHash;
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
