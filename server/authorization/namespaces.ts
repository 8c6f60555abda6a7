// Cache of the names and creation times of all namespaces. A reflector fills the cache.
import type { Logger } from 'pino';
import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import { recordIn } from '../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../cluster/reflector/freshness.ts';
import { ObjectIndex } from '../cluster/reflector/object-index.ts';
import { Reflector } from '../cluster/reflector/reflector.ts';
import type { ReflectorObserver } from '../cluster/reflector/reflector-options.ts';
import { SHORT_WATCHES } from '../cluster/reflector/reflector-tuning.ts';

export interface Namespace {
  readonly name: string;
  /** Creation time in ms since the epoch, in whole seconds. */
  readonly createdAt: number;
}

export interface NamespacesOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Monotonic clock in ms. */
  readonly monotonic?: () => number;
}

export class Namespaces {
  readonly #options: NamespacesOptions;
  readonly #index = new ObjectIndex(readNamespace);
  /** The namespaces by name, shared by all calls until a namespace changes. */
  #all: ReadonlyMap<string, Namespace> | undefined;
  readonly #freshness: Freshness;

  constructor(options: NamespacesOptions) {
    this.#options = options;
    this.#freshness = new Freshness(options.monotonic);
  }

  /** Throws ServiceUnavailable while the index is empty or stale: a namespace may have been recreated. */
  all(): ReadonlyMap<string, Namespace> {
    if (!this.#index.synced || !this.#freshness.within(STALE_AFTER_MS)) {
      throw newServiceUnavailable('the namespaces of the cluster are not known', 1);
    }
    this.#all ??= new Map(Array.from(this.#index.values(), (namespace) => [namespace.name, namespace]));
    return this.#all;
  }

  /** Runs the reflector until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const reflector = new Reflector({
      client,
      path: '/api/v1/namespaces',
      sink: this.#index,
      log,
      observer: this.#observer(),
      tuning: SHORT_WATCHES,
    });
    await reflector.run(signal);
  }

  /** The reflector reports progress after each list and change. */
  #observer(): ReflectorObserver {
    const freshness = this.#freshness;
    return {
      watchBegan: () => freshness.watchBegan(),
      watchEnded: (cause) => freshness.watchEnded(cause),
      progressed: () => {
        freshness.progressed();
        this.#all = undefined;
      },
    };
  }
}

function readNamespace(object: unknown): Namespace | undefined {
  const { name, creationTimestamp } = recordIn(object, 'metadata');
  const created = typeof creationTimestamp === 'string' ? Date.parse(creationTimestamp) : Number.NaN;
  // Without a creation time, a recreated namespace could not be detected.
  if (typeof name !== 'string' || Number.isNaN(created)) return undefined;
  return { name, createdAt: created };
}
