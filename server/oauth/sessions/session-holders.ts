// Whether sessions still have the user and the password that they began with, by what is known here. That may be a
// moment behind the replica at which somebody was just created and signed in: for a young session the cluster is asked
// before it is refused. Made-up sessions cause no such questions, since only genuine ones are asked about.
import type { CredentialDirectory, UserDirectory } from '../users/account.ts';
import type { Session } from './session.ts';
import { type SessionEnd, sessionEnd } from './session-end.ts';

export interface SessionHoldersOptions {
  readonly users: Pick<UserDirectory, 'get' | 'catchUp'>;
  readonly credentials: Pick<CredentialDirectory, 'get' | 'catchUp'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

type Held = Pick<Session, 'user' | 'userUID' | 'createdAt' | 'passwordAt' | 'credentialUID'>;

/** A watch that is further behind than this is no longer believed at all. */
const YOUNG_MS = 30_000;

export class SessionHolders {
  readonly #options: SessionHoldersOptions;

  constructor(options: SessionHoldersOptions) {
    this.#options = options;
  }

  /** By the cache alone; undefined while the session stands. */
  end(session: Held): SessionEnd | undefined {
    const { users, credentials } = this.#options;
    return sessionEnd(session, users.get(session.user), credentials.get(session.user));
  }

  /** Whether the cluster may know better than the cache that a session is not to be refused. */
  isUnsettled({ createdAt }: Held): boolean {
    return this.#options.now() - createdAt < YOUNG_MS;
  }

  /** As `end`, with what the cluster knows. Throws ServiceUnavailable when it cannot be asked now. */
  async settledEnd(session: Held, signal: AbortSignal): Promise<SessionEnd | undefined> {
    const end = this.end(session);
    if (end === undefined || !this.isUnsettled(session)) return end;
    const { users, credentials } = this.#options;
    await Promise.all([users.catchUp?.(session.user, signal), credentials.catchUp?.(session.user, signal)]);
    return this.end(session);
  }
}
