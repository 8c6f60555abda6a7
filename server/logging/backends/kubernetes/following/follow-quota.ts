import { newTooManyRequests } from '../../../../../apis/meta/v1/errors.ts';
import { InFlight } from '../../../../concurrency/in-flight.ts';
import { mostOfOne } from '../../../../concurrency/share-of-one.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { STORE } from '../reading/call-bounds.ts';

const RETRY_AFTER_S = 10;

/** What is left for one caller. */
export interface CallerQuota {
  /**
   * One more, for a tail that follows so many already; given back by disposing of it. Throws NotSupported when that
   * is too much for one tail, else TooManyRequests.
   */
  take(followed: number): Disposable;
}

/** Limits how many logs are followed, by one tail, by one caller, and by all together: each is a connection that stays open. */
export class FollowQuota {
  readonly #limit: number;
  readonly #tailLimit: number;
  readonly #followed = new InFlight();

  constructor(limits: { readonly followedLogs: number; readonly maxContainers: number }) {
    this.#limit = limits.followedLogs;
    this.#tailLimit = limits.maxContainers;
  }

  /** Without a caller, all that is left. */
  of(caller?: string): CallerQuota {
    const share = caller === undefined ? this.#limit : mostOfOne(this.#limit);
    return { take: (followed) => this.#take(followed, caller ?? '', share) };
  }

  #take(followed: number, caller: string, share: number): Disposable {
    if (followed >= this.#tailLimit) {
      const cure = `it cannot follow more than ${this.#tailLimit} containers, and there are more; ask for fewer`;
      throw newNotSupported(STORE, 'follow', cure);
    }
    if (this.#followed.all >= this.#limit || this.#followed.of(caller) >= share) {
      const message = 'too many logs are followed at the moment; ask for fewer, or later';
      throw newTooManyRequests(message, RETRY_AFTER_S);
    }
    this.#followed.begin(caller);
    return { [Symbol.dispose]: () => this.#followed.end(caller) };
  }
}
