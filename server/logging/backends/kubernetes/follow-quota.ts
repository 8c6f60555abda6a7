// Quotas for the number of followed container logs: per live tail, per caller, and for all callers together. Each
// followed log needs an open connection.
import { newTooManyRequests } from '../../../../apis/meta/v1/errors.ts';
import { InFlight } from '../../../concurrency/in-flight.ts';
import { tenantShare } from '../../../concurrency/slots.ts';
import { newNotSupported } from '../../store-errors.ts';
import { STORE } from './container-log.ts';

const RETRY_AFTER_S = 10;

export interface CallerQuota {
  /**
   * Adds a stream to a live tail that has `followed` streams; disposing the result removes it. Throws NotSupported
   * above the maximum of a live tail, and TooManyRequests above the quota of the caller or of all callers.
   */
  take(followed: number): Disposable;
}

export class FollowQuota {
  readonly #limit: number;
  readonly #limitPerTail: number;
  readonly #followed = new InFlight();

  constructor(limits: { readonly followedLogs: number; readonly maxContainers: number }) {
    this.#limit = limits.followedLogs;
    this.#limitPerTail = limits.maxContainers;
  }

  /** The quota of a caller. Without a caller, only the quota of all callers applies. */
  of(caller?: string): CallerQuota {
    const share = caller === undefined ? this.#limit : tenantShare(this.#limit);
    return { take: (followed) => this.#take(followed, caller ?? '', share) };
  }

  #take(followed: number, caller: string, share: number): Disposable {
    if (followed >= this.#limitPerTail) {
      const message = `a live tail follows at most ${this.#limitPerTail} containers, and more match; select fewer`;
      throw newNotSupported(STORE, 'follow', message);
    }
    if (this.#followed.all >= this.#limit || this.#followed.of(caller) >= share) {
      throw newTooManyRequests('too many logs are followed; select fewer, or retry later', RETRY_AFTER_S);
    }
    this.#followed.begin(caller);
    return { [Symbol.dispose]: () => this.#followed.end(caller) };
  }
}
