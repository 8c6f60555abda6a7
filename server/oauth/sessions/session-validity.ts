// Whether the user and the password that a session began with are still valid. The caches may lag behind the replica
// that has just created the user or the session, so a young session is confirmed against the cluster before it is
// rejected. Only sessions with a valid MAC get here, so invented tokens cause no such reads.
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

/** Compares a session with the current user and password; undefined while the session is valid. */
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
  // Written by a clock that is behind, or restored from a backup; or our cache lags behind the password that signed in.
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

/** A cache whose watch lags by more than this is treated as stale anyway. */
const YOUNG_MS = 30_000;

export class SessionValidity {
  readonly #options: SessionValidityOptions;

  constructor(options: SessionValidityOptions) {
    this.#options = options;
  }

  /** From the cache alone; undefined while the session is valid. */
  end(session: CheckedSession): SessionEnd | undefined {
    const { users, credentials } = this.#options;
    return sessionEnd(session, users.get(session.user), credentials.get(session.user));
  }

  /** Whether the cache may lag behind the cluster for this session. */
  mayBeStale({ createdAt }: CheckedSession): boolean {
    return this.#options.now() - createdAt < YOUNG_MS;
  }

  /** As `end`, but confirmed against the cluster where the cache may be stale. Throws ServiceUnavailable. */
  async confirmedEnd(session: CheckedSession, signal: AbortSignal): Promise<SessionEnd | undefined> {
    const end = this.end(session);
    if (end === undefined || !this.mayBeStale(session)) return end;
    const { users, credentials } = this.#options;
    await Promise.all([users.catchUp?.(session.user, signal), credentials.catchUp?.(session.user, signal)]);
    return this.end(session);
  }
}
