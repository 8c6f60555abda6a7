import { isNotFound, newServiceUnavailable, StatusError } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';
import { TokenBucket } from '../throttle/token-bucket.ts';

export interface SessionReadsOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** Of the collection. */
  readonly path: string;
  /** Ends reads that are under way. */
  readonly signal: AbortSignal;
  readonly monotonic: () => number;
  readonly bounds: LookupBounds;
}

export interface LookupBounds {
  readonly perSecond: number;
  readonly burst: number;
  /** At a time. */
  readonly pending: number;
}

export const LOOKUPS: LookupBounds = { perSecond: 100, burst: 200, pending: 64 };
/**
 * Genuine ids are among them only while a replica has not heard of a key, and those that an earlier version made. Apart,
 * so that strangers who spend all of it take nothing from others.
 */
export const LOOKUPS_OF_STRANGERS: LookupBounds = { perSecond: 20, burst: 40, pending: 16 };
/** Ids are random and unknown before their session is written: an id that is absent stays absent. */
const ABSENT_MS = 10_000;
const MAX_ABSENT = 1_000;

/**
 * Reads of single Session objects past the cache, bounded: whoever invents session ids must not flood kube-apiserver.
 */
export class SessionReads {
  readonly #options: SessionReadsOptions;
  readonly #bucket: TokenBucket;
  readonly #answers: LookupCache<{ readonly object: unknown } | undefined>;

  constructor(options: SessionReadsOptions) {
    const { signal, monotonic, bounds } = options;
    const { burst, perSecond, pending } = bounds;
    this.#options = options;
    this.#bucket = new TokenBucket({ burst, perSecond, monotonic });
    this.#answers = new LookupCache({
      size: MAX_ABSENT,
      ttlMs: (answer) => (answer ? 0 : ABSENT_MS),
      maxPending: pending,
      signal,
      monotonic,
    });
  }

  /** The object, or undefined when there is none. Throws ServiceUnavailable when that cannot be told now. */
  async get(id: string, signal: AbortSignal): Promise<unknown> {
    try {
      return (await this.#answers.get(id, (ending) => this.#ask(id, ending), { signal }))?.object;
    } catch (error) {
      if (error instanceof StatusError && error.reason !== 'ServiceUnavailable') {
        throw newServiceUnavailable('sessions cannot be looked up now', 1, { cause: error });
      }
      throw error;
    }
  }

  async #ask(id: string, signal: AbortSignal): Promise<{ readonly object: unknown } | undefined> {
    if (!this.#bucket.take()) throw newServiceUnavailable('too many sessions are looked up', 1);
    const { client, path } = this.#options;
    try {
      return { object: await client.json({ path: `${path}/${id}`, signal }) };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
