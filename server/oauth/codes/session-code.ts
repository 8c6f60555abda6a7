// A code that begins a session once. The Session object stands already, with the hash of its code where later that of
// its refresh token goes later; whoever brings the code, and proves what it is bound to, starts the session by an update
// with a precondition. So:
// - a code is used once on all replicas together: of two updates one meets a changed object;
// - a session that has ended takes its code along: nothing is left that a replay could begin anew (were the session
//   made at the exchange, under a name that follows from the code, a sign-out would free that name again);
// - no store of codes and no further key is needed, and an abandoned session is removed like any other expired one.
import { hash } from 'node:crypto';
import type { RandomBytes } from '../keys/random-bytes.ts';
import { parseRefreshToken, type RefreshToken, sameHash, successor } from '../sessions/refresh-token.ts';
import type { Session } from '../sessions/session.ts';

export interface SessionCode {
  /** Holds at least 256 random bits. */
  readonly text: string;
  readonly sessionID: string;
}

/**
 * What a session that has not begun holds as `refreshHash`, hex: no refresh token can have it. `binding`: what the code
 * is worth nothing without.
 */
export function codeHash({ text }: SessionCode, binding: readonly string[]): string {
  return sha256(JSON.stringify([text, ...binding])).toString('hex');
}

/** As it stands until its code is brought, at most for `lifetimeMs`; `refreshHash` is that of the code. */
export function waitingSession(session: UnbegunSession, lifetimeMs: number): Session {
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

/** What sessions that wait for their code differ in. */
export type UnbegunSession = Omit<
  Session,
  'lastUsedAt' | 'notAfter' | 'idleNotAfter' | 'generation' | 'familyHash'
>;

export function hasBegun(session: Pick<Session, 'refreshHash' | 'familyHash'>): boolean {
  return session.familyHash !== '' || session.refreshHash === '';
}

/**
 * Whether the cluster may know a refresh token that the cached session does not: a rotation keeps the family. Any other
 * token is not worth a question, however often it is shown.
 */
export function mayBeBehind(cached: Session, token: RefreshToken): boolean {
  return !hasBegun(cached) || sameHash(cached.familyHash, token.familyHash);
}

/**
 * The first refresh token of a session that begins with this code. Its family follows from the code, so that the code,
 * when it comes a second time, is known to be the one that the session began with.
 */
export function firstRefreshToken(code: SessionCode, random: RandomBytes): RefreshToken {
  return successor(familyOf(code), random);
}

/** What the session holds as `familyHash` once it has begun. */
export function familyHash(code: SessionCode): string {
  return familyOf(code).familyHash;
}

/** A token that was never given to anybody; only its family is used. */
function familyOf({ sessionID, text }: SessionCode): RefreshToken {
  const family = sha256(`family of ${text}`).subarray(0, 18).toString('base64url');
  const token = parseRefreshToken(`prt_${sessionID}_${family}${'-'.repeat(40)}`);
  if (!token) throw new Error('refresh tokens have another form now');
  return token;
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
