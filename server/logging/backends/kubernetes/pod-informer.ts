// Pod informer that starts at the first log query. A server without log queries does not watch pods.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { Reflector } from '../../../cluster/reflector/reflector.ts';
import { orAborted } from '../../../concurrency/or-aborted.ts';
import { PodIndex } from './pod-index.ts';

export interface PodInformerOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  readonly monotonic?: (() => number) | undefined;
}

export class PodInformer {
  readonly #options: PodInformerOptions;
  readonly #index: PodIndex;
  readonly #wanted = Promise.withResolvers<void>();
  /** Settles with the next list: resolves, or rejects if an attempt fails. Undefined if no query waits for it. */
  #sync: PromiseWithResolvers<void> | undefined;

  constructor(options: PodInformerOptions) {
    this.#options = options;
    this.#index = new PodIndex(options.monotonic);
  }

  /**
   * Starts the informer and waits for its first list. Rejects if an attempt to list fails, although the reflector
   * retries.
   */
  async open(signal: AbortSignal): Promise<PodIndex> {
    signal.throwIfAborted();
    this.#wanted.resolve();
    if (!this.#index.synced) {
      this.#sync ??= Promise.withResolvers();
      await orAborted(this.#sync.promise, signal);
    }
    return this.#index;
  }

  /** Runs the reflector from the first query on until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    await orAborted(this.#wanted.promise, signal).catch(() => undefined);
    if (signal.aborted) return;
    this.#index.onChange(() => this.#settle(undefined));
    await new Reflector({
      client,
      path: '/api/v1/pods',
      sink: this.#index,
      log,
      observer: {
        listed: () => undefined,
        progressed: () => undefined,
        watchEnded: (cause) => this.#settle(new Error(`cannot list pods: ${cause}`)),
      },
    }).run(signal);
  }

  #settle(failure: Error | undefined): void {
    const sync = this.#sync;
    this.#sync = undefined;
    if (failure) sync?.reject(failure);
    else sync?.resolve();
  }
}
