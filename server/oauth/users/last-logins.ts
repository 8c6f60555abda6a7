// Writer of the field `status.lastLoginTime` of users, with a precision of one minute. No sign-in waits for a write.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user-resource.ts';
import { isInvalid, isNotFound } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { kindOfFailure, RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ClusterUserDirectory } from './user-directory.ts';

export interface LastLoginsOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly users: Pick<ClusterUserDirectory, 'object' | 'put'>;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  /** Initial backoff after a failure, in ms; default 5,000. */
  readonly retryMs?: number;
}

const MINUTE_MS = 60_000;
const MAX_USERS = 1000;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

/** Writes are queued and sequential. Failed writes are retried; when the queue is full, new entries are dropped. */
export class LastLogins {
  readonly #options: LastLoginsOptions;
  /** The minute to write, by user. */
  readonly #unwritten = new Map<string, number>();
  readonly #written = new LRUCache<string, number>({ max: MAX_USERS });
  readonly #wakeup = new Wakeup();
  readonly #failures = new RepeatedFailure();
  readonly #backoff: Backoff;

  constructor(options: LastLoginsOptions) {
    const { retryMs: initialMs = RETRY_MS } = options;
    this.#options = options;
    this.#backoff = new Backoff({ initialMs, maxMs: MAX_RETRY_MS, random: Math.random });
  }

  /** Queues the current minute for a user. */
  record(user: string): void {
    const now = this.#options.now();
    const minute = now - (now % MINUTE_MS);
    if (this.#written.get(user) === minute || this.#unwritten.size >= MAX_USERS) return;
    this.#unwritten.set(user, minute);
    this.#wakeup.wake();
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [next] = this.#unwritten;
      if (!next) await this.#wakeup.next(signal);
      else if (await this.#write(...next, signal)) this.#dequeue(...next);
      else await this.#requeue(next[0], signal);
    }
  }

  /** Returns false if the write must be retried. */
  async #write(user: string, minute: number, signal: AbortSignal): Promise<boolean> {
    if (this.#isWritten(user, minute)) return true;
    const { client, group, users } = this.#options;
    try {
      const written = await client.json({
        method: 'PATCH',
        path: `/apis/${group}/${VERSION}/${USER.plural}/${user}/status`,
        headers: { 'content-type': 'application/merge-patch+json' },
        json: { status: { lastLoginTime: new Date(minute).toISOString().replace('.000Z', 'Z') } },
        signal,
      });
      users.put(written);
      this.#failures.end();
      this.#backoff.reset();
      return true;
    } catch (err) {
      if (signal.aborted) return false;
      this.#logFailure(user, err);
      return isNotFound(err) || isInvalid(err);
    }
  }

  /** Another replica may have written this minute, or a later one during the backoff. */
  #isWritten(user: string, minute: number): boolean {
    const written = this.#options.users.object(user)?.status?.lastLoginTime;
    return written !== undefined && Date.parse(written) >= minute;
  }

  #dequeue(user: string, minute: number): void {
    this.#written.set(user, minute);
    // A later sign-in of the same user may have replaced the queued minute.
    if (this.#unwritten.get(user) === minute) this.#unwritten.delete(user);
  }

  /** Moves the user to the end of the queue, because the failure may affect only this user. */
  async #requeue(user: string, signal: AbortSignal): Promise<void> {
    const latest = this.#unwritten.get(user);
    if (latest === undefined) return;
    this.#unwritten.delete(user);
    this.#unwritten.set(user, latest);
    await pause(this.#backoff.next(), signal);
  }

  #logFailure(user: string, err: unknown): void {
    const isNews = !isNotFound(err) && this.#failures.isNews(kindOfFailure(err));
    this.#options.log[isNews ? 'warn' : 'debug']({ err, user }, 'cannot write the last login time');
  }
}
