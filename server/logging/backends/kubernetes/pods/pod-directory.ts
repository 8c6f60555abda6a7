import type { Logger } from 'pino';
import type { ClusterClient } from '../../../../cluster/connection/client.ts';
import { Reflector, type ReflectorObserver } from '../../../../cluster/reflector/reflector.ts';
import type { ReflectorTuning } from '../../../../cluster/reflector/reflector-tuning.ts';
import { orAborted } from '../../../../concurrency/or-aborted.ts';
import { PodIndex } from './pod-index.ts';

export interface PodDirectoryOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** How long pods are followed after the last question, in ms. */
  readonly idleMs?: number;
  readonly tuning?: Partial<ReflectorTuning>;
  readonly monotonic?: () => number;
}

const IDLE_MS = 600_000;

/** Pods are followed from the first question on, and no longer when nobody has asked for a while. */
export class PodDirectory {
  readonly #options: PodDirectoryOptions;
  /** A new one each time that following begins: what was known before is no longer valid. */
  #index: PodIndex;
  #users = 0;
  #wanted = Promise.withResolvers<void>();
  #idle: NodeJS.Timeout | undefined;
  #stop: AbortController | undefined;
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(options: PodDirectoryOptions) {
    this.#options = options;
    this.#index = new PodIndex(options.monotonic);
  }

  /**
   * The pods, for as long as the result is not disposed of. Rejects with the reason when the first attempt to list
   * them has failed; later ones are made by themselves.
   */
  async open(signal: AbortSignal): Promise<Disposable & { readonly pods: PodIndex }> {
    this.#users++;
    clearTimeout(this.#idle);
    this.#wanted.resolve();
    const close = (): void => this.#leave();
    try {
      signal.throwIfAborted();
      if (!this.#index.synced) {
        this.#waiting ??= Promise.withResolvers();
        this.#waiting.promise.catch(() => undefined);
        await orAborted(this.#waiting.promise, signal);
      }
      return { pods: this.#index, [Symbol.dispose]: close };
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Follows them when somebody asks, until `signal` is aborted; never throws. */
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
        if (!index.synced) this.#settle(index, new Error(`the pods cannot be listed: ${cause}`));
      },
    };
  }

  #settle(index: PodIndex, failure: Error | undefined): void {
    if (index !== this.#index) return;
    if (failure) this.#waiting?.reject(failure);
    else this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #leave(): void {
    this.#users--;
    if (this.#users > 0) return;
    this.#idle = setTimeout(() => this.#forget(), this.#options.idleMs ?? IDLE_MS).unref();
  }

  #forget(): void {
    this.#index = new PodIndex(this.#options.monotonic);
    this.#stop?.abort();
  }
}
