import { newTooManyRequests } from '../../../../../apis/meta/v1/errors.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { mostOfOne } from '../../../work/share-of-one.ts';
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
  readonly #followedBy = new Map<string, number>();
  #followed = 0;

  constructor(limits: { readonly followedLogs: number; readonly maxContainers: number }) {
    this.#limit = limits.followedLogs;
    this.#tailLimit = limits.maxContainers;
  }

  /** Without a caller, all that is left. */
  of(caller?: string): CallerQuota {
    return { take: (followed) => this.#take(followed, caller) };
  }

  #take(followed: number, caller: string | undefined): Disposable {
    if (followed >= this.#tailLimit) {
      const cure = `it can not follow more than ${this.#tailLimit} containers, and there are more; ask for fewer`;
      throw newNotSupported(STORE, 'follow', cure);
    }
    if (this.#followed >= this.#limit || (caller !== undefined && !this.#hasRoom(caller))) {
      const message = 'too many logs are followed at the moment; ask for fewer, or later';
      throw newTooManyRequests(message, RETRY_AFTER_S);
    }
    this.#count(caller, 1);
    return { [Symbol.dispose]: () => this.#count(caller, -1) };
  }

  #hasRoom(caller: string): boolean {
    return (this.#followedBy.get(caller) ?? 0) < mostOfOne(this.#limit);
  }

  #count(caller: string | undefined, change: 1 | -1): void {
    this.#followed += change;
    if (caller === undefined) return;
    const own = (this.#followedBy.get(caller) ?? 0) + change;
    if (own > 0) this.#followedBy.set(caller, own);
    else this.#followedBy.delete(caller);
  }
}
