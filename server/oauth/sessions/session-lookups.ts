// Reads single Session objects from kube-apiserver instead of the cache.
import { isNotFound, newServiceUnavailable, StatusError } from '../../../apis/meta/v1/errors.ts';
import type { Seats } from '../../admission/seats.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';

export interface SessionLookupsOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** Path of the collection. */
  readonly path: string;
  readonly seats: Seats;
  /** Aborts pending reads. */
  readonly signal: AbortSignal;
  readonly monotonic: () => number;
}

/**
 * TTL of a NotFound result. No client has a random id before its session is written, so the session does not appear later.
 */
const ABSENT_TTL_MS = 10_000;
const MAX_ABSENT = 1_000;

export class SessionLookups {
  readonly #options: SessionLookupsOptions;
  readonly #results: LookupCache<{ readonly object: unknown } | undefined>;

  constructor(options: SessionLookupsOptions) {
    const { seats, signal, monotonic } = options;
    this.#options = options;
    this.#results = new LookupCache({
      size: MAX_ABSENT,
      ttlMs: (result) => (result ? 0 : ABSENT_TTL_MS),
      seats,
      signal,
      monotonic,
    });
  }

  /** The object, or undefined when it does not exist. Throws ServiceUnavailable when the lookup fails. */
  async get(id: string, call: CallContext): Promise<unknown> {
    try {
      return (await this.#results.get(id, (signal) => this.#read(id, signal), call))?.object;
    } catch (error) {
      if (error instanceof StatusError && error.reason !== 'ServiceUnavailable') {
        throw newServiceUnavailable('cannot look up the session', 1, { cause: error });
      }
      throw error;
    }
  }

  async #read(id: string, signal: AbortSignal): Promise<{ readonly object: unknown } | undefined> {
    const { client, path } = this.#options;
    try {
      return { object: await client.json({ path: `${path}/${id}`, signal }) };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
