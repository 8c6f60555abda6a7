import { newTimeout, type StatusError } from '../../apis/meta/v1/errors.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import { pause } from '../concurrency/pause.ts';

interface Waiter {
  readonly version: bigint;
  readonly resolve: () => void;
}

export interface WaitOptions {
  /** How long a read waits, in ms. */
  readonly timeoutMs: number;
  /** How long to wait for the ordinary watch before the cluster is asked, in ms. */
  readonly patienceMs: number;
  /** After how long without an end of a probe another one is sent beside it, in ms. */
  readonly retryMs: number;
  /** Asks the cluster to bring the cache to `version`; may fail. */
  readonly probe: (version: bigint, signal: AbortSignal) => Promise<void>;
  readonly current: () => bigint;
}

/** Beyond so many at a time, an end of one is waited for. */
const MAX_PROBES = 3;

/** Reads that wait until the cache has reached their resourceVersion. One probe serves them all, while it does. */
export class VersionWaiters {
  readonly #options: WaitOptions;
  readonly #waiters = new Set<Waiter>();
  #probing: AbortController | undefined;
  /** What the running probe waits for. */
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
    // A version that will never come must not hold up one that will.
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

  /** The cache has got to `version`. */
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
    const { patienceMs, retryMs, probe } = this.#options;
    const running = new Set<Promise<void>>();
    await pause(patienceMs, signal);
    while (this.#waiters.size > 0 && !signal.aborted) {
      let nearest: bigint | undefined;
      for (const { version } of this.#waiters) {
        if (nearest === undefined || version < nearest) nearest = version;
      }
      if (nearest === undefined) return;
      this.#target = nearest;
      const ended = new AbortController();
      const probing = probe(nearest, signal)
        // Waiters need not hear of a failed probe: each has its own timeout.
        .catch(() => undefined)
        .finally(() => {
          running.delete(probing);
          ended.abort();
        });
      running.add(probing);
      // A connection that delivers nothing any more says nothing for longer than a read waits; the next may be sound.
      if (running.size < MAX_PROBES) await pause(retryMs, AbortSignal.any([signal, ended.signal]));
      else await Promise.race(running);
      await pause(patienceMs * 4, signal);
    }
  }
}

/** kube-apiserver's answer, by whose cause client-go knows that it may simply ask again. */
export function newTooLargeVersion(version: bigint, current: bigint): StatusError {
  return newTimeout(`Timeout: Too large resource version: ${version}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);
}
