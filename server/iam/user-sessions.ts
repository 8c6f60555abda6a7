import type { Logger } from 'pino';
import type { SessionStore } from '../oauth/sessions/session.ts';

/**
 * Sessions of a user. Those of a deleted or disabled user, and those from before a password change, are invalid anyway;
 * deletion makes that visible, and effective on all replicas at once.
 */
export class UserSessions {
  readonly #sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(sessions: Pick<SessionStore, 'ofUser' | 'delete'>, log: Pick<Logger, 'warn'>) {
    this.#sessions = sessions;
    this.#log = log;
  }

  /** Never throws: the change has been written, and the session reaper deletes what is left. */
  async terminate(user: string, signal: AbortSignal): Promise<void> {
    const deletions = await Promise.allSettled(
      this.#sessions.ofUser(user).map(({ id }) => this.#sessions.delete(id, signal)),
    );
    const failed = deletions.filter((each) => each.status === 'rejected');
    if (failed.length > 0) {
      this.#log.warn({ user, sessions: failed.length, err: failed[0]?.reason }, 'cannot delete sessions');
    }
  }
}
