// Checks the validity of unexpired sessions. A disabled or deleted user, or a changed password, makes a session
// invalid.
import type { CallContext } from '../../cluster/call-context.ts';
import type { Account, CredentialDirectory, PasswordID, UserDirectory } from '../users/account.ts';
import type { Session } from './session.ts';

/** Why an unexpired session is invalid. */
export type SessionEnd =
  | 'user deleted'
  | 'user recreated'
  | 'user disabled'
  | 'password deleted'
  | 'password recreated'
  | 'password changed'
  | 'password restored';

/** Returns why a session is invalid for the current user and password; undefined while the session is valid. */
export function sessionEnd(
  session: Pick<Session, 'userUID' | 'createdAt' | 'passwordAt' | 'credentialUID'>,
  account: Account | undefined,
  credential: PasswordID | undefined,
): SessionEnd | undefined {
  if (!account) return 'user deleted';
  if (account.uid !== session.userUID) return 'user recreated';
  if (account.disabled) return 'user disabled';
  // Every session began with a password: deleting the password revokes the session.
  if (!credential) return 'password deleted';
  const { createdAt, passwordAt = createdAt, credentialUID = credential.uid } = session;
  // UIDs first: times of two different objects cannot be compared.
  if (credentialUID !== credential.uid) return 'password recreated';
  if (passwordAt < credential.changedAt) return 'password changed';
  // The current password is older than the session's: it was restored from a backup or written by a clock that is behind,
  // or the cache does not contain the latest password yet.
  if (session.passwordAt !== undefined && passwordAt > credential.changedAt) return 'password restored';
  return undefined;
}

export interface SessionValidityOptions {
  readonly users: Pick<UserDirectory, 'get' | 'catchUp'>;
  readonly credentials: Pick<CredentialDirectory, 'get' | 'catchUp'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

type CheckedSession = Pick<Session, 'user' | 'userUID' | 'createdAt' | 'passwordAt' | 'credentialUID'>;

/**
 * Age below which a session may be newer than the caches. Caches that are further behind are stale, and requests get 503
 * then.
 */
const YOUNG_MS = 30_000;

/**
 * Compares sessions with the cached users and passwords. The caches may be behind the replica that created a session, so
 * the invalidity of a young session is confirmed by reads from the cluster. Callers check the MAC of a session first, so
 * invented tokens cause no reads.
 */
export class SessionValidity {
  readonly #options: SessionValidityOptions;

  constructor(options: SessionValidityOptions) {
    this.#options = options;
  }

  /** Returns why the session is invalid, from the cache alone; undefined while it is valid. */
  end(session: CheckedSession): SessionEnd | undefined {
    const { users, credentials } = this.#options;
    return sessionEnd(session, users.get(session.user), credentials.get(session.user));
  }

  /** Whether the cache may lag behind the cluster for this session. */
  mayBeStale({ createdAt }: CheckedSession): boolean {
    return this.#options.now() - createdAt < YOUNG_MS;
  }

  /** Like `end`, but reads the user and the password from the cluster if the cache may be stale. Throws ServiceUnavailable. */
  async confirmedEnd(session: CheckedSession, call: CallContext): Promise<SessionEnd | undefined> {
    const end = this.end(session);
    if (end === undefined || !this.mayBeStale(session)) return end;
    const { users, credentials } = this.#options;
    await Promise.all([users.catchUp?.(session.user, call), credentials.catchUp?.(session.user, call)]);
    return this.end(session);
  }
}
