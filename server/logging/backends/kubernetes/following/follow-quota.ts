// Quotas of log streams: for one live tail, for one caller, and for all callers. Each stream is an open connection.
import { newTooManyRequests } from '../../../../../apis/meta/v1/errors.ts';
import { InFlight } from '../../../../concurrency/in-flight.ts';
import { tenantShare } from '../../../../concurrency/slots.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { STORE } from '../pods/container-log.ts';

const RETRY_AFTER_S = 10;

export interface CallerQuota {
  /**
   * One more stream for a live tail that has `followed` streams; disposing it returns the place. Throws NotSupported
   * above the maximum of one live tail, and TooManyRequests above the other quotas.
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

  /** Without a caller, only the limit of all callers applies. */
  of(caller?: string): CallerQuota {
    const share = caller === undefined ? this.#limit : tenantShare(this.#limit);
    return { take: (followed) => this.#take(followed, caller ?? '', share) };
  }

  #take(followed: number, caller: string, share: number): Disposable {
    if (followed >= this.#limitPerTail) {
      const cure = `a live tail follows at most ${this.#limitPerTail} containers, and more match; select fewer`;
      throw newNotSupported(STORE, 'follow', cure);
    }
    if (this.#followed.all >= this.#limit || this.#followed.of(caller) >= share) {
      throw newTooManyRequests('too many logs are followed; select fewer, or retry later', RETRY_AFTER_S);
    }
    this.#followed.begin(caller);
    return { [Symbol.dispose]: () => this.#followed.end(caller) };
  }
}
