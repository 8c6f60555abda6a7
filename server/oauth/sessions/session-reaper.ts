// Deletes invalid Session objects; only the leader runs this garbage collection. Invalid sessions are always
// rejected, even if the object still exists.
import type { Logger } from 'pino';
import {
  isConflict,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  StatusError,
} from '../../../apis/meta/v1/errors.ts';
import { pause } from '../../concurrency/pause.ts';
import { backgroundSlicer } from '../../concurrency/time-slicer.ts';
import { kindOfFailure, RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ClusterSessionStore } from './cluster-session-store.ts';
import { NO_CLIENT, NO_USER, type Session } from './session.ts';
import type { FoundSession } from './session-object.ts';
import type { SessionEnd, SessionValidity } from './session-validity.ts';

type RemovalReason = SessionEnd | 'expired' | 'invalid';

/** In ms. */
interface ReaperTiming {
  readonly intervalMs: number;
  /** Minimum age of a session whose user is checked, because the cache may lag behind the replica that created it. */
  readonly settleMs: number;
  /** Minimum age of a deleted object without a valid MAC, because the cached keys may be outdated. */
  readonly invalidMs: number;
}

interface SessionReaperOptions {
  readonly sessions: Pick<ClusterSessionStore, 'fresh' | 'all' | 'isGenuine' | 'ofUser' | 'remove'>;
  readonly validity: Pick<SessionValidity, 'synced' | 'end'>;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly timing?: ReaperTiming;
  readonly removed?: (reason: RemovalReason) => void;
}

const DEFAULT_TIMING: ReaperTiming = { intervalMs: 10_000, settleMs: 5_000, invalidMs: 86_400_000 };

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
        this.#options.log[level]({ err }, 'cannot delete invalid sessions, will retry');
      }
      await pause(this.#timing.intervalMs, signal);
    }
  }

  /**
   * Deletes invalid sessions and returns their number. An error that concerns one object, for instance of an admission
   * webhook, is thrown after the sweep; any other error ends it.
   */
  async sweep(signal: AbortSignal): Promise<number> {
    const { sessions, validity, log } = this.#options;
    if (!sessions.fresh || !validity.synced) return 0;
    const slices = backgroundSlicer.of({ signal });
    let count = 0;
    let failure: unknown;
    for (const found of sessions.all()) {
      if (slices.spent) await slices.next();
      signal.throwIfAborted();
      const reason = this.#reasonToRemove(found);
      if (reason === undefined) continue;
      try {
        await sessions.remove(found.name, signal, found);
      } catch (error) {
        if (!isOfOneObject(error)) throw error;
        if (!isConflict(error)) failure ??= error;
        continue;
      }
      count++;
      this.#options.removed?.(reason);
      log.info({ session: found.name, user: found.session?.user, reason }, 'session deleted');
    }
    if (failure !== undefined) throw failure;
    return count;
  }

  #reasonToRemove(found: FoundSession): RemovalReason | undefined {
    const { sessions, validity, now } = this.#options;
    const { session, creationTime } = found;
    const time = now();
    if (!session || !sessions.isGenuine(found)) {
      return time - creationTime > this.#timing.invalidMs ? 'invalid' : undefined;
    }
    const isExpired = time >= session.notAfter || time >= session.idleNotAfter;
    if (isExpired && !this.#hasBegunOthers(session)) return 'expired';
    if (session.user === NO_USER) return undefined;
    if (time - session.createdAt < this.#timing.settleMs) return undefined;
    return validity.end(session);
  }

  /** Whether sessions that began with this browser session still exist: its deletion would end them. */
  #hasBegunOthers({ id, user, clientID }: Session): boolean {
    return (
      clientID === NO_CLIENT && this.#options.sessions.ofUser(user).some(({ browser }) => browser === id)
    );
  }
}

/** Whether the error concerns this object only; any other error would hit the next object too. */
function isOfOneObject(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    !isServiceUnavailable(error) &&
    !isTooManyRequests(error) &&
    !isTimeout(error)
  );
}
