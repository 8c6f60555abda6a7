// Pod informer that starts at the first log query, and stops ten minutes after the last one.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { Reflector, type ReflectorObserver } from '../../../cluster/reflector/reflector.ts';
import type { ReflectorTuning } from '../../../cluster/reflector/reflector-tuning.ts';
import { orAborted } from '../../../concurrency/or-aborted.ts';
import { PodIndex } from './pod-index.ts';

export interface PodInformerOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Milliseconds from the end of the last request until the informer stops; default: ten minutes. */
  readonly idleMs?: number | undefined;
  readonly tuning?: Partial<ReflectorTuning>;
  readonly monotonic?: (() => number) | undefined;
}

const IDLE_MS = 600_000;

export class PodInformer {
  readonly #options: PodInformerOptions;
  /** Replaced by an empty index when the informer stops, because its pods become stale. */
  #index: PodIndex;
  #users = 0;
  #wanted = Promise.withResolvers<void>();
  #idle: NodeJS.Timeout | undefined;
  #stop: AbortController | undefined;
  #sync: PromiseWithResolvers<void> | undefined;

  constructor(options: PodInformerOptions) {
    this.#options = options;
    this.#index = new PodIndex(options.monotonic);
  }

  /**
   * Starts the informer and waits for its first list. The informer runs at least until the result is disposed. Rejects
   * if an attempt to list fails, although the reflector retries.
   */
  async open(signal: AbortSignal): Promise<Disposable & { readonly pods: PodIndex }> {
    this.#users++;
    clearTimeout(this.#idle);
    this.#wanted.resolve();
    const close = (): void => this.#leave();
    try {
      signal.throwIfAborted();
      if (!this.#index.synced) {
        this.#sync ??= Promise.withResolvers();
        this.#sync.promise.catch(() => undefined);
        await orAborted(this.#sync.promise, signal);
      }
      return { pods: this.#index, [Symbol.dispose]: close };
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Runs the reflector on demand until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await orAborted(this.#wanted.promise, signal).catch(() => undefined);
      if (signal.aborted) return;
      const index = this.#index;
      const stop = (this.#stop = new AbortController());
      index.onChange(() => this.#settle(index, undefined));
      await new Reflector({
        client: this.#options.client,
        path: '/api/v1/pods',
        sink: index,
        log: this.#options.log,
        observer: this.#observer(index),
        ...(this.#options.tuning ? { tuning: this.#options.tuning } : {}),
      }).run(AbortSignal.any([signal, stop.signal]));
      this.#wanted = Promise.withResolvers();
      if (this.#users > 0) this.#wanted.resolve();
    }
  }

  #observer(index: PodIndex): ReflectorObserver {
    return {
      listed: () => undefined,
      progressed: () => undefined,
      watchEnded: (cause) => {
        if (!index.synced) this.#settle(index, new Error(`cannot list pods: ${cause}`));
      },
    };
  }

  #settle(index: PodIndex, failure: Error | undefined): void {
    if (index !== this.#index) return;
    if (failure) this.#sync?.reject(failure);
    else this.#sync?.resolve();
    this.#sync = undefined;
  }

  #leave(): void {
    this.#users--;
    if (this.#users > 0) return;
    this.#idle = setTimeout(() => {
      this.#index = new PodIndex(this.#options.monotonic);
      this.#stop?.abort();
    }, this.#options.idleMs ?? IDLE_MS).unref();
  }
}
