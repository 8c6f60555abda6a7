import type { Logger } from 'pino';
import type { SessionStore } from '../oauth/sessions/session.ts';

/**
 * Signs a user out everywhere. Sessions of a deleted or disabled user, or from before a change of the password, are
 * invalid anyway; deleting them makes that visible, and immediate on all replicas.
 */
export class SessionEnding {
  readonly #sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(sessions: Pick<SessionStore, 'ofUser' | 'delete'>, log: Pick<Logger, 'warn'>) {
    this.#sessions = sessions;
    this.#log = log;
  }

  /** Never throws: the change that ends the sessions has been written, and the reaper removes what is left. */
  async endAll(user: string, signal: AbortSignal): Promise<void> {
    const ended = await Promise.allSettled(
      this.#sessions.ofUser(user).map(({ id }) => this.#sessions.delete(id, signal)),
    );
    const failed = ended.filter((each) => each.status === 'rejected');
    if (failed.length > 0) {
      this.#log.warn(
        { user, sessions: failed.length, err: failed[0]?.reason },
        'sessions could not be deleted',
      );
    }
  }
}
