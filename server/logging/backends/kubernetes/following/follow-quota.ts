import { newTooManyRequests } from '../../../../../apis/meta/v1/errors.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { STORE } from '../reading/call-bounds.ts';

const RETRY_AFTER_S = 10;

/** Limits how many logs are followed, by one caller and by all together: each is a connection that stays open. */
export class FollowQuota {
  readonly #limit: number;
  readonly #callerLimit: number;
  #followed = 0;

  constructor(limits: { readonly followedLogs: number; readonly maxContainers: number }) {
    this.#limit = limits.followedLogs;
    this.#callerLimit = limits.maxContainers;
  }

  /**
   * One more, for a caller who follows so many already; given back by disposing of it. Throws NotSupported when that
   * is too much for one caller, else TooManyRequests.
   */
  take(followed: number): Disposable {
    if (followed >= this.#callerLimit) {
      const cure = `it can not follow more than ${this.#callerLimit} containers, and there are more; ask for fewer`;
      throw newNotSupported(STORE, 'follow', cure);
    }
    if (this.#followed >= this.#limit) {
      const message = 'too many logs are followed at the moment; ask for fewer, or later';
      throw newTooManyRequests(message, RETRY_AFTER_S);
    }
    this.#followed++;
    return {
      [Symbol.dispose]: () => {
        this.#followed--;
      },
    };
  }
}
