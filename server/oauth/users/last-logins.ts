// Writer of the field `status.lastLoginTime` of users, with a precision of one minute. No sign-in waits for a write.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user-resource.ts';
import { isNotFound } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { kindOfFailure, RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ClusterUserDirectory } from './user-directory.ts';

interface LastLoginsOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly users: Pick<ClusterUserDirectory, 'object' | 'put'>;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

const MINUTE_MS = 60_000;
/** Maximum time by which the clock of another replica is ahead. */
const MAX_AHEAD_MS = 5 * MINUTE_MS;
const MAX_USERS = 1000;
const TIMEOUT_MS = 10_000;

/** A failed write is not retried: the next sign-in writes a later time. */
export class LastLogins {
  readonly #options: LastLoginsOptions;
  /** The minute of the last write, by user. */
  readonly #written = new LRUCache<string, number>({ max: MAX_USERS });
  readonly #failures = new RepeatedFailure();

  constructor(options: LastLoginsOptions) {
    this.#options = options;
  }

  /** Begins to write the current minute of a user. */
  record(user: string): void {
    const { users, now, log } = this.#options;
    const time = now();
    const minute = time - (time % MINUTE_MS);
    // Another replica may have written it. A time that is further ahead would stay until then.
    const known = Date.parse(users.object(user)?.status?.lastLoginTime ?? '');
    const isCurrent = known >= minute && known - time <= MAX_AHEAD_MS;
    if (this.#written.get(user) === minute || isCurrent) return;
    this.#written.set(user, minute);
    this.#write(user, minute).then(
      () => this.#failures.end(),
      (err: unknown) => {
        this.#written.delete(user);
        const isNews = !isNotFound(err) && this.#failures.isNews(kindOfFailure(err));
        log[isNews ? 'warn' : 'debug']({ err, user }, 'cannot write the last login time');
      },
    );
  }

  async #write(user: string, minute: number): Promise<void> {
    const { client, group, users } = this.#options;
    const written = await client.json({
      method: 'PATCH',
      path: `/apis/${group}/${VERSION}/${USER.plural}/${user}/status`,
      headers: { 'content-type': 'application/merge-patch+json' },
      json: { status: { lastLoginTime: new Date(minute).toISOString().replace('.000Z', 'Z') } },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    users.put(written);
  }
}
