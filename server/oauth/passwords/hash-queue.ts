import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { Slots } from '../../concurrency/slots.ts';

export interface HashQueueLimits {
  /** Hashes computed concurrently. */
  readonly concurrency: number;
  /** Maximum number of waiting requests. */
  readonly length: number;
  /** Maximum waiting time, in ms. */
  readonly timeoutMs: number;
}

/**
 * Flow of a request in fair queuing. `known`: the client has proven before that it belongs to the user, for instance by an
 * earlier sign-in from the same address. `unknown`: all other sign-ins together.
 */
export type HashFlow = 'known' | 'unknown';

/**
 * Limits concurrent hashing: one hash fills a core and takes 19 MiB. Both flows share the slots and the queue equally, and
 * a full queue drops the newest request of the longer flow. So a flood of sign-ins from strange addresses cannot displace
 * known users.
 */
export class HashQueue {
  readonly #slots: Slots;

  constructor({ concurrency, length, timeoutMs }: HashQueueLimits) {
    const refusal = (): Error => newServiceUnavailable('too many sign-ins at a time', 2);
    this.#slots = new Slots(concurrency, { length, waitMs: timeoutMs, refusal });
  }

  /** Throws ServiceUnavailable when the queue is full or the request waited too long. Work that has begun is completed. */
  async run<T>(flow: HashFlow, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    using _slot = await this.#slots.take(signal, flow);
    return await work();
  }
}
