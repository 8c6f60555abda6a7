// Cache of User or Credential objects, filled by a reflector. While the watch can be behind, rate-limited reads
// update single objects.
import type { Logger } from 'pino';
import { isUserName } from '../../../apis/iam/v1beta1/custom-resource.ts';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { isNotFound, newNotFound, newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../../cluster/reflector/freshness.ts';
import { ObjectIndex } from '../../cluster/reflector/object-index.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import { SHORT_WATCHES } from '../../cluster/reflector/reflector-tuning.ts';
import { TokenBucket } from '../throttle/token-bucket.ts';

export interface ObjectCacheOptions {
  readonly client: ClusterClient;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Time without contact to the cluster, in ms, after which the cache is stale. */
  readonly staleAfterMs?: number;
  /** Monotonic ms. */
  readonly monotonic?: () => number;
}

const READS_PER_SECOND = 50;
const READ_BURST = 100;

/** `read` converts an object; it returns undefined for an invalid one. */
export class ObjectCache<T> {
  readonly index: ObjectIndex<T>;
  readonly path: string;
  readonly #freshness: Freshness;
  readonly #plural: string;
  readonly #options: ObjectCacheOptions;
  readonly #reads: TokenBucket;

  constructor(plural: string, read: (object: unknown) => T | undefined, options: ObjectCacheOptions) {
    this.path = `/apis/${options.group}/${VERSION}/${plural}`;
    this.index = new ObjectIndex(read);
    this.#freshness = new Freshness(options.monotonic);
    this.#plural = plural;
    this.#options = options;
    this.#reads = new TokenBucket({
      burst: READ_BURST,
      perSecond: READS_PER_SECOND,
      monotonic: options.monotonic ?? (() => performance.now()),
    });
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
   * Throws ServiceUnavailable during an outage of the cluster, and above the rate limit.
   */
  async catchUp(name: string, signal: AbortSignal): Promise<void> {
    if (!isUserName(name)) return;
    if (!this.#reads.take()) throw newServiceUnavailable(`too many lookups of ${this.#plural}`, 1);
    try {
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
