import { newTimeout, type StatusError } from '../../apis/meta/v1/errors.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import { pause } from '../concurrency/pause.ts';

interface Waiter {
  readonly version: bigint;
  readonly resolve: () => void;
}

export interface WaitOptions {
  /** Time limit of a read, in ms. */
  readonly timeoutMs: number;
  /** Time for the regular watch to arrive before the cluster is queried, in ms. */
  readonly probeDelayMs: number;
  /** Time after which an unfinished probe is followed by another one, in ms. */
  readonly retryMs: number;
  /** Brings the cache to `version`; can fail. */
  readonly probe: (version: bigint, signal: AbortSignal) => Promise<void>;
  readonly current: () => bigint;
}

/** Maximum number of concurrent probes. */
const MAX_PROBES = 3;

/** Reads that wait until the cache reaches their resourceVersion. They share probes. */
export class VersionWaiters {
  readonly #options: WaitOptions;
  readonly #waiters = new Set<Waiter>();
  #probing: AbortController | undefined;
  /** Target of the running probe. */
  #target: bigint | undefined;

  constructor(options: WaitOptions) {
    this.#options = options;
  }

  async wait(version: bigint, signal: AbortSignal): Promise<void> {
    if (this.#options.current() >= version) return;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { version, resolve };
    const timer = setTimeout(
      () => reject(newTooLargeVersion(version, this.#options.current())),
      this.#options.timeoutMs,
    );
    this.#waiters.add(waiter);
    // A target that the cluster never reaches must not delay a lower one.
    if (this.#target !== undefined && version < this.#target) this.#probing?.abort();
    this.#startProbing();
    try {
      await orAborted(promise, signal);
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) this.#probing?.abort();
    }
  }

  /** The cache has reached `version`. */
  reached(version: bigint): void {
    for (const waiter of this.#waiters) {
      if (waiter.version > version) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  #startProbing(): void {
    if (this.#probing) return;
    const controller = new AbortController();
    this.#probing = controller;
    void this.#probeWhileNeeded(controller.signal).finally(() => {
      this.#probing = undefined;
      this.#target = undefined;
      if (this.#waiters.size > 0) this.#startProbing();
    });
  }

  async #probeWhileNeeded(signal: AbortSignal): Promise<void> {
    const { probeDelayMs, retryMs, probe } = this.#options;
    const running = new Set<Promise<void>>();
    await pause(probeDelayMs, signal);
    while (this.#waiters.size > 0 && !signal.aborted) {
      let nearest: bigint | undefined;
      for (const { version } of this.#waiters) {
        if (nearest === undefined || version < nearest) nearest = version;
      }
      if (nearest === undefined) return;
      this.#target = nearest;
      const ended = new AbortController();
      const probing = probe(nearest, signal)
        // Waiters have their own timeout.
        .catch(() => undefined)
        .finally(() => {
          running.delete(probing);
          ended.abort();
        });
      running.add(probing);
      // A dead connection blocks a probe for longer than a read waits; the next connection can be good.
      if (running.size < MAX_PROBES) await pause(retryMs, AbortSignal.any([signal, ended.signal]));
      else await Promise.race(running);
      await pause(probeDelayMs * 4, signal);
    }
  }
}

/** kube-apiserver's response. client-go retries on this cause. */
export function newTooLargeVersion(version: bigint, current: bigint): StatusError {
  return newTimeout(`Timeout: Too large resource version: ${version}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);
}
