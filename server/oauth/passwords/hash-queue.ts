import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';

export interface HashQueueLimits {
  /** Hashes at a time. */
  readonly concurrency: number;
  /** How many may wait. */
  readonly length: number;
  /** How long one may wait, in ms. */
  readonly timeoutMs: number;
}

/**
 * Bounds how many hashes are worked on at a time, and how long one waits for its turn. Hashing fills a core and 19 MiB
 * each: without a bound, a storm of sign-ins would starve everything else on the machine.
 */
export class HashQueue {
  readonly #limits: HashQueueLimits;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limits: HashQueueLimits) {
    this.#limits = limits;
  }

  /** Throws ServiceUnavailable when too many wait, or this one waited too long. Work that has begun is finished. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running < this.#limits.concurrency) this.#running++;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    const { length, timeoutMs } = this.#limits;
    if (this.#waiting.size >= length) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', gone);
      this.#waiting.delete(enter);
    };
    // Takes over the place of the one who leaves, so that nobody comes in between.
    const enter = (): void => {
      leave();
      resolve();
    };
    const gone = (): void => {
      leave();
      reject(signal?.reason instanceof Error ? signal.reason : new Error('given up'));
    };
    const timer = setTimeout(() => {
      leave();
      reject(busy());
    }, timeoutMs);
    signal?.addEventListener('abort', gone, { once: true });
    this.#waiting.add(enter);
    return promise;
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#running--;
  }
}

function busy(): Error {
  return newServiceUnavailable('too many sign-ins at a time', 2);
}
