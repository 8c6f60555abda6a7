// The objects of one path of kube-apiserver by name, and whether they are known to be up to date.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../../cluster/reflector/freshness.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import { SHORT_WATCHES } from '../../cluster/reflector/reflector-tuning.ts';
import { failureReason } from './failure-reason.ts';
import { NamedObjects } from './named-objects.ts';

export class WatchedObjects<T> {
  readonly #path: string;
  readonly #objects: NamedObjects<T>;
  readonly #freshness = new Freshness();

  /** See NamedObjects. */
  constructor(path: string, read: (object: unknown, raw: Buffer) => T, changed: () => void) {
    this.#path = path;
    this.#objects = new NamedObjects(read, changed);
  }

  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  /** Resolves after the first list or failure. */
  get settled(): Promise<void> {
    return this.#freshness.settled;
  }

  /** True before the first list, and while the last one can be out of date. */
  get stale(): boolean {
    return !this.#objects.synced || !this.#freshness.within(STALE_AFTER_MS);
  }

  /** True if they are stale, and from the failure of the watch until they are known to be up to date again. */
  get interrupted(): boolean {
    return this.stale || this.#freshness.interrupted;
  }

  /** Why the objects are not up to date. */
  get reason(): string {
    const resource = this.#path.slice(this.#path.lastIndexOf('/') + 1);
    return `the ${resource} of the cluster are not known: ${failureReason(resource, this.#freshness.failure)}`;
  }

  /** Runs until `signal` is aborted; never throws. */
  run(options: { readonly client: ClusterClient; readonly log: Logger }, signal: AbortSignal): Promise<void> {
    const { client, log } = options;
    return new Reflector({
      client,
      log,
      path: this.#path,
      sink: this.#objects,
      observer: this.#freshness,
      tuning: SHORT_WATCHES,
    }).run(signal);
  }
}
