import { createHmac, randomBytes } from 'node:crypto';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { ClusterReviews, TokenReview } from '../cluster/reviews.ts';
import { BoundedMap } from '../memory/bounded-map.ts';
import { LookupCache } from '../memory/lookup-cache.ts';
import type { TokenAuthenticator } from './bearer-token.ts';
import type { UserInfo } from './user.ts';

export interface TokenReviewOptions {
  readonly reviews: Pick<ClusterReviews, 'reviewToken'>;
  /** How long a known and an unknown token are remembered as such, in ms. */
  readonly successTtlMs: number;
  readonly failureTtlMs: number;
  readonly cacheSize?: number;
  readonly maxPending?: number;
  readonly onLookup?: (hit: boolean) => void;
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Asks the cluster whose token it is: ServiceAccounts, and whatever kube-apiserver is set up to accept. */
export class TokenReviewAuthenticator implements TokenAuthenticator {
  readonly name = 'token-review';
  readonly #reviews: Pick<ClusterReviews, 'reviewToken'>;
  readonly #cache: LookupCache<TokenReview>;
  /** Keys of tokens that were good when they were asked about last. */
  readonly #good: BoundedMap<string, true>;
  /** Keyed, so that what lies in memory cannot be matched with tokens from elsewhere. */
  readonly #secret = randomBytes(32);

  constructor(options: TokenReviewOptions) {
    const { successTtlMs, failureTtlMs, cacheSize = 8192, maxPending = 200 } = options;
    const { monotonic, onLookup } = options;
    this.#good = new BoundedMap(cacheSize);
    this.#reviews = options.reviews;
    this.#cache = new LookupCache({
      size: cacheSize,
      ttlMs: ({ user }) => (user ? successTtlMs : failureTtlMs),
      maxPending,
      maxPendingOfOne: Math.ceil(maxPending / 2),
      signal: options.signal,
      ...(monotonic ? { monotonic } : {}),
      ...(onLookup ? { onLookup } : {}),
    });
  }

  authenticate(token: string, context: CallContext): Promise<UserInfo> | UserInfo {
    const key = createHmac('sha256', this.#secret).update(token).digest('base64');
    // All tokens that are new here count as one caller's, so whoever invents tokens takes no room from known good ones.
    const review = this.#cache.get(
      key,
      (signal) => this.#review(key, token, signal),
      context,
      this.#good.has(key) ? key : '',
    );
    return review instanceof Promise ? review.then(userOf) : userOf(review);
  }

  async #review(key: string, token: string, signal: AbortSignal): Promise<TokenReview> {
    const review = await this.#reviews.reviewToken(token, signal);
    if (review.user) this.#good.set(key, true);
    else this.#good.delete(key);
    return review;
  }
}

function userOf({ user, error }: TokenReview): UserInfo {
  if (!user) throw newUnauthorized(new Error(error === '' ? 'the cluster does not know the token' : error));
  return user;
}
