// Queue of reads that wait until the informer cache reaches a resourceVersion. A read fails with a timeout if the
// cache is too slow.
import { newBadRequest, newTimeout, type StatusError } from '../../apis/meta/v1/errors.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import { pause } from '../concurrency/pause.ts';

interface Waiter {
  readonly version: bigint;
  readonly resolve: () => void;
}

export interface WaitOptions {
  /** Time limit of a read, in ms. */
  readonly timeoutMs: number;
  /** Time in ms that the watch of the reflector has to deliver the version before the first probe. */
  readonly probeDelayMs: number;
  /** Time in ms after which another probe starts while the previous one is still running. */
  readonly retryMs: number;
  /** Brings the cache to `version`. It can reject. */
  readonly probe: (version: bigint, signal: AbortSignal) => Promise<void>;
  readonly current: () => bigint;
}

/** Maximum number of concurrent probes. */
const MAX_PROBES = 3;

/** The waiting reads of one cache. All reads share the same probes. */
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
    // The cluster may never reach the current target, which must not delay a read with a lower version.
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

  /** Resolves the reads that wait for `version` or a lower one. The cache calls it when it has reached `version`. */
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
        // The timeout of the read reports the failure.
        .catch(() => undefined)
        .finally(() => {
          running.delete(probing);
          ended.abort();
        });
      running.add(probing);
      // A probe on a broken connection takes longer than the timeout of a read, so another probe starts in parallel.
      if (running.size < MAX_PROBES) await pause(retryMs, AbortSignal.any([signal, ended.signal]));
      else await Promise.race(running);
      await pause(probeDelayMs * 4, signal);
    }
  }
}

/** Returns the same error as kube-apiserver. client-go detects it by its cause, and retries. */
export function newTooLargeVersion(version: bigint, current: bigint): StatusError {
  return newTimeout(`Timeout: Too large resource version: ${version}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);
}

/** Returns the number of a resourceVersion in a request. Throws BadRequest for an invalid one. */
export function versionOf(resourceVersion: string): bigint {
  if (!/^\d{1,20}$/.test(resourceVersion)) {
    throw newBadRequest(
      `Invalid value: ${JSON.stringify(resourceVersion)}: a resourceVersion is a decimal number`,
    );
  }
  return BigInt(resourceVersion);
}
