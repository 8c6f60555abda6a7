// Type of a session (the login of a user), and interface of the session store.

import { timingSafeEqual } from 'node:crypto';
import type { CallContext } from '../../cluster/call-context.ts';
import type { RandomBytes } from '../keys/key-ring.ts';
import type { RequestedClaims } from '../users/user-claims.ts';
import type { Authentication } from './proof.ts';

/**
 * The session of one sign-in. Its refresh token and all its access tokens are valid only with it. Times in ms since the
 * epoch.
 */
export interface Session {
  /** `s-` and 20 characters of lower-case base32: the name of the Session object. */
  readonly id: string;
  readonly user: string;
  readonly userUID: string;
  readonly clientID: string;
  readonly scopes: readonly string[];
  /** Address and user agent of the sign-in, for display only. */
  readonly source: string;
  readonly userAgent: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  /** Absolute expiry. */
  readonly notAfter: number;
  /** Expiry unless the session is used again. */
  readonly idleNotAfter: number;
  /** Number of refresh token rotations. */
  readonly generation: number;
  /** SHA-256 of the current refresh token, hex. Empty for a client without refresh tokens. */
  readonly refreshHash: string;
  /**
   * SHA-256, hex, of the part that all refresh tokens of this session share. A token with this part that is not the
   * current token was used already. Empty for a client without refresh tokens.
   */
  readonly familyHash: string;
  /** Absent in a session without user. */
  readonly authentication?: Authentication;
  /** Id of the browser session with which the user signed in at the client. */
  readonly browser?: string;
  /** Claims that the client has requested in addition to those of its scopes. */
  readonly claims?: RequestedClaims;
}

/** User of an open device request (codes/device-requests.ts). Not a valid user name. */
export const NO_USER = '-';

/** Client of a browser session (endpoints/browser/browser-sessions.ts). No client has this id. */
export const NO_CLIENT = '-';

/** Time of the last authentication of the user in a session, in ms since the epoch. */
export function authTimeOf({
  createdAt,
  authentication,
}: {
  readonly createdAt: number;
  readonly authentication?: Pick<Authentication, 'authTime'> | undefined;
}): number {
  return authentication?.authTime ?? createdAt;
}

/**
 * Whether the code of the session is not exchanged yet (codes/session-code.ts). A browser session has no refresh token, but
 * is never pending.
 */
export function isPending({
  clientID,
  refreshHash,
  familyHash,
}: Pick<Session, 'clientID' | 'refreshHash' | 'familyHash'>): boolean {
  return clientID !== NO_CLIENT && familyHash === '' && refreshHash !== '';
}

/** A session with its object's version, for writes with a precondition. */
export interface StoredSession extends Session {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * The session store. Every implementation runs test/conformance/session-store.suite.ts. Returned sessions are unexpired and
 * have a valid MAC; other objects are treated as absent.
 */
export interface SessionStore {
  /** An id for a new session, with a MAC so that invented ids cause no lookups. Throws ServiceUnavailable without keys. */
  newID(random: RandomBytes): string;
  /** Throws AlreadyExists (StatusError) for a duplicate id, ServiceUnavailable when the cluster is unavailable. */
  create(session: Session, signal: AbortSignal): Promise<StoredSession>;
  /** From the cache. While `fresh` is false, undefined does not mean that the session does not exist. */
  get(id: string): StoredSession | undefined;
  /** Whether the object exists, from the cache: also that of an expired session. */
  has(id: string): boolean;
  /**
   * From the cluster, bypassing the cache; concurrent reads of one id by one caller are shared. Throws ServiceUnavailable when the
   * cluster is unavailable or the caller gets no seat for a lookup.
   */
  read(id: string, call: CallContext): Promise<StoredSession | undefined>;
  /** Throws Conflict (StatusError) when the version has changed, NotFound when the session was deleted. */
  replace(session: StoredSession, signal: AbortSignal): Promise<StoredSession>;
  /**
   * Terminates a session; deleting an absent session is no error. With `exactly`, throws Conflict (StatusError) when the
   * version has changed.
   */
  delete(id: string, signal: AbortSignal, exactly?: ObjectVersion): Promise<void>;
  /** From the cache, in no particular order. */
  ofUser(user: string): readonly StoredSession[];
  /** As `ofUser`, from the cluster, bypassing the cache. Throws ServiceUnavailable when the cluster is unavailable. */
  readOfUser(user: string, signal: AbortSignal): Promise<readonly StoredSession[]>;
  /** False before the first list, and when the watch has been silent for too long. */
  readonly fresh: boolean;
}

export interface ObjectVersion {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * Re-reads a session after a write whose response was lost. Returns the stored session if the write took effect,
 * undefined if it did not or if that is unknown. The random refresh token identifies the write, so a session without one
 * is never recognized. Never rejects.
 */
export async function readAfterLostResponse(
  sessions: Pick<SessionStore, 'read'>,
  { id, refreshHash }: Pick<StoredSession, 'id' | 'refreshHash'>,
  call: CallContext,
): Promise<StoredSession | undefined> {
  const found = await sessions.read(id, call).catch(() => undefined);
  return found && sameHash(found.refreshHash, refreshHash) ? found : undefined;
}

/** A browser session when something began with it. */
export type BrowserVersion = Pick<StoredSession, 'id' | 'generation'>;

/**
 * Whether a browser session has the same generation in the cluster: otherwise the user has signed out everywhere else, or in this browser,
 * or has signed in again. To be called after the write of what begins with it, because a sign-out does not see a later write.
 */
export async function isCurrent(
  { id, generation }: BrowserVersion,
  sessions: Pick<SessionStore, 'read'>,
  call: CallContext,
): Promise<boolean> {
  const latest = await sessions.read(id, call);
  return latest?.clientID === NO_CLIENT && latest.generation === generation;
}

/** Constant-time comparison. An empty hash never matches. */
export function sameHash(a: string, b: string): boolean {
  return a !== '' && a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
