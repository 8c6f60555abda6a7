import { newTooManyRequests } from '../../../../apis/meta/v1/errors.ts';
import { newNotSupported } from '../../store-errors.ts';
import { STORE } from './call-bounds.ts';
import type { ChosenSources } from './source-selection.ts';

const RETRY_AFTER_S = 10;

/** How many logs are followed, for all callers together: each is a connection that stays. */
export class FollowQuota {
  readonly #limit: number;
  #followed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Given back by disposing of it. Throws NotSupported when one caller asks for too much, else TooManyRequests. */
  take({ sources, leftOut }: ChosenSources): Disposable {
    const count = sources.length;
    if (leftOut.count > 0) {
      const cure = `it can not follow ${leftOut.count} of these containers, which are too many; ask for fewer`;
      throw newNotSupported(STORE, 'follow', cure);
    }
    if (this.#followed + count > this.#limit) {
      const message = 'too many logs are followed at the moment; ask for fewer, or later';
      throw newTooManyRequests(message, RETRY_AFTER_S);
    }
    this.#followed += count;
    return {
      [Symbol.dispose]: () => {
        this.#followed -= count;
      },
    };
  }
}
