// Terminates the sessions of a user after a change of the user or the password.
import type { Logger } from 'pino';
import type { SessionStore } from './session.ts';

/**
 * Deletes the sessions of a user after a change that makes them invalid. The deletion also removes the sessions from
 * lists, and takes effect on replicas whose caches do not contain the change yet.
 */
export class UserSessions {
  readonly #sessions: Pick<SessionStore, 'ofUser' | 'readOfUser' | 'delete'>;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(sessions: Pick<SessionStore, 'ofUser' | 'readOfUser' | 'delete'>, log: Pick<Logger, 'warn'>) {
    this.#sessions = sessions;
    this.#log = log;
  }

  /**
   * Never throws, because the change is already written. The session reaper deletes the remaining sessions. Reads the cluster, because the
   * cache may lack sessions that began at another replica.
   */
  async terminate(user: string, signal: AbortSignal): Promise<void> {
    const sessions = this.#sessions;
    const found = await sessions.readOfUser(user, signal).catch(() => sessions.ofUser(user));
    const deletions = await Promise.allSettled(found.map(({ id }) => sessions.delete(id, signal)));
    const failed = deletions.filter((each) => each.status === 'rejected');
    if (failed.length > 0) {
      this.#log.warn({ user, sessions: failed.length, err: failed[0]?.reason }, 'cannot delete sessions');
    }
  }
}
