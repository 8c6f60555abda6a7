// Removes Session objects that are no longer valid. Runs on the elected replica. Nothing depends on it: an ended session
// is refused at every use, whether its object still exists or not.
import type { Logger } from 'pino';
import {
  isConflict,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  StatusError,
} from '../../../apis/meta/v1/errors.ts';
import { Pacer } from '../../concurrency/pacer.ts';
import { pause } from '../../concurrency/pause.ts';
import { kindOfFailure, RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { CredentialDirectory, UserDirectory } from '../users/account.ts';
import type { ClusterSessionStore } from './cluster-session-store.ts';
import { NOBODY } from './session.ts';
import { type SessionEnd, sessionEnd } from './session-end.ts';
import type { FoundSession } from './session-object.ts';

export type RemovalReason = SessionEnd | 'expired' | 'not ours';

/** In ms. */
export interface ReaperTiming {
  readonly intervalMs: number;
  /** How old a session must be before its user is looked at: the replica that made it may know a newer one than we do. */
  readonly settleMs: number;
  /** How old an object must be that we did not make: a new key may not have reached us yet. */
  readonly foreignMs: number;
}

export interface SessionReaperOptions {
  readonly sessions: Pick<ClusterSessionStore, 'fresh' | 'all' | 'isGenuine' | 'remove'>;
  readonly users: UserDirectory;
  readonly credentials: CredentialDirectory;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly timing?: ReaperTiming;
  readonly removed?: (reason: RemovalReason) => void;
}

const DEFAULT_TIMING: ReaperTiming = { intervalMs: 10_000, settleMs: 5_000, foreignMs: 86_400_000 };

export class SessionReaper {
  readonly #options: SessionReaperOptions;
  readonly #timing: ReaperTiming;

  constructor(options: SessionReaperOptions) {
    this.#options = options;
    this.#timing = options.timing ?? DEFAULT_TIMING;
  }

  /** Sweeps until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const failures = new RepeatedFailure();
    while (!signal.aborted) {
      try {
        await this.sweep(signal);
        failures.end();
      } catch (err) {
        if (signal.aborted) return;
        const level = failures.isNews(kindOfFailure(err)) ? 'warn' : 'debug';
        this.#options.log[level]({ err }, 'ended sessions are left for the next time');
      }
      await pause(this.#timing.intervalMs, signal);
    }
  }

  /**
   * Removes what has ended, and returns how many. Throws what stopped it; what only kept single sessions, a webhook for
   * instance that will not have them deleted, it throws when it is through with the others.
   */
  async sweep(signal: AbortSignal): Promise<number> {
    const { sessions, users, credentials, log } = this.#options;
    if (!sessions.fresh || !users.synced || !credentials.synced) return 0;
    const pacer = new Pacer();
    let count = 0;
    let refused: unknown;
    for (const found of sessions.all()) {
      if (pacer.spent) await pacer.breathe();
      signal.throwIfAborted();
      const reason = this.#reasonToRemove(found);
      if (reason === undefined) continue;
      try {
        await sessions.remove(found.name, signal, found);
      } catch (error) {
        if (!isOfOneObject(error)) throw error;
        if (!isConflict(error)) refused ??= error;
        continue;
      }
      count++;
      this.#options.removed?.(reason);
      log.info({ session: found.name, user: found.session?.user, reason }, 'session removed');
    }
    if (refused !== undefined) throw refused;
    return count;
  }

  #reasonToRemove(found: FoundSession): RemovalReason | undefined {
    const { sessions, users, credentials, now } = this.#options;
    const { session, creationTime } = found;
    const time = now();
    if (!session || !sessions.isGenuine(found)) {
      return time - creationTime > this.#timing.foreignMs ? 'not ours' : undefined;
    }
    if (time >= session.notAfter || time >= session.idleNotAfter) return 'expired';
    if (session.user === NOBODY) return undefined;
    if (time - session.createdAt < this.#timing.settleMs) return undefined;
    return sessionEnd(session, users.get(session.user), credentials.get(session.user));
  }
}

/** Otherwise the next one would fare no better. */
function isOfOneObject(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    !isServiceUnavailable(error) &&
    !isTooManyRequests(error) &&
    !isTimeout(error)
  );
}
