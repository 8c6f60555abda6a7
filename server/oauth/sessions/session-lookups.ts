// Reads single Session objects from kube-apiserver instead of the cache, with a rate limit.
import { isNotFound, newServiceUnavailable, StatusError } from '../../../apis/meta/v1/errors.ts';
import type { Seats } from '../../admission/seats.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';
import { TokenBucket } from '../throttle/token-bucket.ts';

export interface SessionLookupsOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** Path of the collection. */
  readonly path: string;
  readonly seats: Seats;
  /** Aborts pending reads. */
  readonly signal: AbortSignal;
  readonly monotonic: () => number;
}

const PER_SECOND = 100;
const BURST = 200;
/** The caller of all lookups of sessions: the rate limit bounds them too, so they need no share for each user. */
const CALLER = 'sessions';
/**
 * TTL of a NotFound result. No client has a random id before its session is written, so the session does not appear later.
 */
const ABSENT_TTL_MS = 10_000;
const MAX_ABSENT = 1_000;

export class SessionLookups {
  readonly #options: SessionLookupsOptions;
  readonly #bucket: TokenBucket;
  readonly #results: LookupCache<{ readonly object: unknown } | undefined>;

  constructor(options: SessionLookupsOptions) {
    const { seats, signal, monotonic } = options;
    this.#options = options;
    this.#bucket = new TokenBucket({ burst: BURST, perSecond: PER_SECOND, monotonic });
    this.#results = new LookupCache({
      size: MAX_ABSENT,
      ttlMs: (result) => (result ? 0 : ABSENT_TTL_MS),
      seats,
      signal,
      monotonic,
    });
  }

  /** The object, or undefined when it does not exist. Throws ServiceUnavailable when the lookup fails. */
  async get(id: string, signal: AbortSignal): Promise<unknown> {
    try {
      const context = { signal, caller: CALLER };
      return (await this.#results.get(id, (ending) => this.#read(id, ending), context))?.object;
    } catch (error) {
      if (error instanceof StatusError && error.reason !== 'ServiceUnavailable') {
        throw newServiceUnavailable('cannot look up the session', 1, { cause: error });
      }
      throw error;
    }
  }

  async #read(id: string, signal: AbortSignal): Promise<{ readonly object: unknown } | undefined> {
    if (!this.#bucket.take()) throw newServiceUnavailable('too many session lookups', 1);
    const { client, path } = this.#options;
    try {
      return { object: await client.json({ path: `${path}/${id}`, signal }) };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
