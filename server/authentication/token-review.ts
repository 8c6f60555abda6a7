import { createHmac, randomBytes } from 'node:crypto';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { ClusterReviews, TokenReview } from '../cluster/reviews.ts';
import { ReviewCache } from '../cluster/reviews-cache.ts';
import type { TokenAuthenticator } from './bearer-token.ts';
import type { UserInfo } from './user.ts';

export interface TokenReviewOptions {
  readonly reviews: Pick<ClusterReviews, 'reviewToken'>;
  /** How long a known and an unknown token are remembered as such, in ms; 10,000 each when none is given. */
  readonly successTtlMs?: number;
  readonly failureTtlMs?: number;
  /** None means the audiences of kube-apiserver itself. */
  readonly audiences?: readonly string[];
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
  readonly #audiences: readonly string[];
  readonly #cache: ReviewCache<TokenReview>;
  /** Keyed, so that what lies in memory can not be matched with tokens from elsewhere. */
  readonly #secret = randomBytes(32);

  constructor(options: TokenReviewOptions) {
    const { successTtlMs = 10_000, failureTtlMs = 10_000, monotonic, onLookup } = options;
    this.#reviews = options.reviews;
    this.#audiences = options.audiences ?? [];
    this.#cache = new ReviewCache({
      size: options.cacheSize ?? 8192,
      ttlMs: ({ user }) => (user ? successTtlMs : failureTtlMs),
      maxPending: options.maxPending ?? 200,
      signal: options.signal,
      ...(monotonic ? { monotonic } : {}),
      ...(onLookup ? { onLookup } : {}),
    });
  }

  authenticate(token: string, scope: { readonly signal: AbortSignal }): Promise<UserInfo> | UserInfo {
    const key = createHmac('sha256', this.#secret).update(token).digest('base64');
    const review = this.#cache.get(
      key,
      (signal) => this.#reviews.reviewToken(token, this.#audiences, signal),
      scope,
    );
    return review instanceof Promise ? review.then(userOf) : userOf(review);
  }
}

function userOf({ user, error }: TokenReview): UserInfo {
  if (!user) throw newUnauthorized(new Error(error === '' ? 'the cluster does not know the token' : error));
  return user;
}
