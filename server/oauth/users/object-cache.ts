// Cache of User or Credential objects, filled by a reflector. While the watch can be behind, reads update single
// objects. Callers share the seats of these reads.
import type { Logger } from 'pino';
import { isUserName } from '../../../apis/iam/v1beta1/custom-resource.ts';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { isNotFound, newNotFound, newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import type { Seats } from '../../admission/seats.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../../cluster/reflector/freshness.ts';
import { ObjectIndex } from '../../cluster/reflector/object-index.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import { SHORT_WATCHES } from '../../cluster/reflector/reflector-tuning.ts';

export interface ObjectCacheOptions {
  readonly client: ClusterClient;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  /** The seats of reads of single objects. */
  readonly lookups: Seats;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Time without contact to the cluster, in ms, after which the cache is stale. */
  readonly staleAfterMs?: number;
  /** Monotonic ms. */
  readonly monotonic?: () => number;
}

/** `read` converts an object; it returns undefined for an invalid one. */
export class ObjectCache<T> {
  readonly index: ObjectIndex<T>;
  readonly path: string;
  readonly #freshness: Freshness;
  readonly #plural: string;
  readonly #options: ObjectCacheOptions;

  constructor(plural: string, read: (object: unknown) => T | undefined, options: ObjectCacheOptions) {
    this.path = `/apis/${options.group}/${VERSION}/${plural}`;
    this.index = new ObjectIndex(read);
    this.#freshness = new Freshness(options.monotonic);
    this.#plural = plural;
    this.#options = options;
  }

  get synced(): boolean {
    return this.index.synced && this.#freshness.within(this.#options.staleAfterMs ?? STALE_AFTER_MS);
  }

  /** Throws NotFound for an invalid user name, so that a name cannot inject another path. */
  pathOf(name: string): string {
    if (!isUserName(name)) throw newNotFound({ group: this.#options.group, resource: this.#plural }, name);
    return `${this.path}/${name}`;
  }

  /**
   * Reads one object from the cluster into the cache. A deleted object stays in the cache until its watch event arrives.
   * Throws ServiceUnavailable during an outage of the cluster, and without a seat for the caller.
   */
  async catchUp(name: string, { signal, caller = '' }: CallContext): Promise<void> {
    if (!isUserName(name)) return;
    try {
      using _seat = await this.#options.lookups.take(caller, { signal });
      this.index.put(await this.#options.client.json({ path: this.pathOf(name), signal }));
    } catch (cause) {
      if (isNotFound(cause)) return;
      throw newServiceUnavailable(`cannot look up ${this.#plural}`, 1, { cause });
    }
  }

  /** Runs the reflector until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const reflector = new Reflector({
      client,
      path: this.path,
      sink: this.index,
      log,
      observer: this.#freshness,
      tuning: SHORT_WATCHES,
    });
    await reflector.run(signal);
  }
}
