import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { Slots } from '../../concurrency/slots.ts';

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
  readonly #slots: Slots;

  constructor({ concurrency, length, timeoutMs }: HashQueueLimits) {
    const refusal = (): Error => newServiceUnavailable('too many sign-ins at a time', 2);
    this.#slots = new Slots(concurrency, { length, waitMs: timeoutMs, refusal });
  }

  /** Throws ServiceUnavailable when too many wait, or this one waited too long. Work that has begun is finished. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    using _slot = await this.#slots.take(signal);
    return await work();
  }
}
