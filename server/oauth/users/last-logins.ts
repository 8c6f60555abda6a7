// When users last signed in, in the status of their User objects. Kept to the minute and written one after the other,
// after the sign-in, so that nobody waits for it: when too many are queued, some are not written.
import type { Logger } from 'pino';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user.ts';
import { isNotFound, StatusError } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';

export interface LastLoginsOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

const MINUTE_MS = 60_000;
const MAX_USERS = 1000;
const RETRY_MS = 5_000;

export class LastLogins {
  readonly #options: LastLoginsOptions;
  /** By user, the minute to be written. */
  readonly #unwritten = new Map<string, number>();
  readonly #written = new BoundedMap<string, number>(MAX_USERS);
  readonly #wakeup = new Wakeup();
  readonly #failures = new RepeatedFailure();

  constructor(options: LastLoginsOptions) {
    this.#options = options;
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
      if (next) await this.#write(...next, signal);
      else await this.#wakeup.next(signal);
    }
  }

  async #write(user: string, minute: number, signal: AbortSignal): Promise<void> {
    const { client, group, log } = this.#options;
    try {
      await client.json({
        method: 'PATCH',
        path: `/apis/${group}/${VERSION}/${USER.plural}/${user}/status`,
        headers: { 'content-type': 'application/merge-patch+json' },
        json: { status: { lastLoginTime: new Date(minute).toISOString().replace('.000Z', 'Z') } },
        signal,
      });
      this.#written.set(user, minute);
      this.#failures.end();
    } catch (err) {
      if (signal.aborted) return;
      // The message of a refusal names the user.
      const what = err instanceof StatusError ? String(err.code) : messageOf(err);
      const isNews = !isNotFound(err) && this.#failures.isNews(what);
      log[isNews ? 'warn' : 'debug']({ err, user }, 'the time of a sign-in is not written');
      if (!isNotFound(err)) await pause(RETRY_MS, signal);
    }
    // The same user may have signed in again meanwhile, a minute later.
    if (this.#unwritten.get(user) === minute) this.#unwritten.delete(user);
  }
}
