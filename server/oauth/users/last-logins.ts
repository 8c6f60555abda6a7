// When users last signed in, in the status of their User objects. Kept to the minute and written one after the other,
// after the sign-in, so that nobody waits for it; what could not be written is tried again. When too many are queued,
// some are not written.
import type { Logger } from 'pino';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user.ts';
import { isInvalid, isNotFound } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import { kindOfFailure, RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ClusterUserDirectory } from './cluster-user-directory.ts';

export interface LastLoginsOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly users: Pick<ClusterUserDirectory, 'object' | 'show'>;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  /** The first pause after a failure, in ms; 5,000 when none is given. */
  readonly retryMs?: number;
}

const MINUTE_MS = 60_000;
const MAX_USERS = 1000;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

export class LastLogins {
  readonly #options: LastLoginsOptions;
  /** By user, the minute to be written. */
  readonly #unwritten = new Map<string, number>();
  readonly #written = new BoundedMap<string, number>(MAX_USERS);
  readonly #wakeup = new Wakeup();
  readonly #failures = new RepeatedFailure();
  readonly #backoff: Backoff;

  constructor(options: LastLoginsOptions) {
    const { retryMs: initialMs = RETRY_MS } = options;
    this.#options = options;
    this.#backoff = new Backoff({ initialMs, maxMs: MAX_RETRY_MS, random: Math.random });
  }

  /** Does not wait. */
  seen(user: string): void {
    const now = this.#options.now();
    const minute = now - (now % MINUTE_MS);
    if (this.#written.get(user) === minute || this.#unwritten.size >= MAX_USERS) return;
    this.#unwritten.set(user, minute);
    this.#wakeup.wake();
  }

  /** Writes until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [next] = this.#unwritten;
      if (!next) await this.#wakeup.next(signal);
      else if (await this.#write(...next, signal)) this.#forget(...next);
      else await this.#tryLater(next[0], signal);
    }
  }

  /** False when it is to be tried again. */
  async #write(user: string, minute: number, signal: AbortSignal): Promise<boolean> {
    if (this.#isKnown(user, minute)) return true;
    const { client, group, users } = this.#options;
    try {
      const written = await client.json({
        method: 'PATCH',
        path: `/apis/${group}/${VERSION}/${USER.plural}/${user}/status`,
        headers: { 'content-type': 'application/merge-patch+json' },
        json: { status: { lastLoginTime: new Date(minute).toISOString().replace('.000Z', 'Z') } },
        signal,
      });
      users.show(written);
      this.#failures.end();
      this.#backoff.reset();
      return true;
    } catch (err) {
      if (signal.aborted) return false;
      this.#tell(user, err);
      return isNotFound(err) || isInvalid(err);
    }
  }

  /** Another replica may have written this minute already, or a later one while we had to wait. */
  #isKnown(user: string, minute: number): boolean {
    const known = this.#options.users.object(user)?.status?.lastLoginTime;
    return known !== undefined && Date.parse(known) >= minute;
  }

  #forget(user: string, minute: number): void {
    this.#written.set(user, minute);
    // The same user may have signed in again meanwhile, a minute later.
    if (this.#unwritten.get(user) === minute) this.#unwritten.delete(user);
  }

  /** Behind the others: what is wrong may be with this one only. */
  async #tryLater(user: string, signal: AbortSignal): Promise<void> {
    const latest = this.#unwritten.get(user);
    if (latest === undefined) return;
    this.#unwritten.delete(user);
    this.#unwritten.set(user, latest);
    await pause(this.#backoff.next(), signal);
  }

  #tell(user: string, err: unknown): void {
    const isNews = !isNotFound(err) && this.#failures.isNews(kindOfFailure(err));
    this.#options.log[isNews ? 'warn' : 'debug']({ err, user }, 'the time of a sign-in is not written');
  }
}
