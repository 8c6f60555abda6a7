// Authenticator that sends bearer tokens as TokenReviews to kube-apiserver, with a cache.
import { hash, randomBytes } from 'node:crypto';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { Seats } from '../admission/seats.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { ClusterReviews, TokenReview } from '../cluster/reviews.ts';
import { BoundedMap } from '../memory/bounded-map.ts';
import { LookupCache } from '../memory/lookup-cache.ts';
import type { BearerToken, TokenAuthenticator } from './authenticator.ts';
import { sharerOf, type UserInfo } from './user.ts';

export interface TokenReviewOptions {
  readonly reviews: Pick<ClusterReviews, 'reviewToken'>;
  /** TTL of successful TokenReviews, in ms. */
  readonly successTtlMs: number;
  /** TTL of failed TokenReviews, in ms. */
  readonly failureTtlMs: number;
  /** Maximum number of cached TokenReviews. */
  readonly cacheSize?: number;
  /** The seats of pending TokenReviews. */
  readonly seats: Seats;
  readonly onLookup?: (hit: boolean) => void;
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Authenticates ServiceAccount tokens, and all other tokens that kube-apiserver accepts. */
export class TokenReviewAuthenticator implements TokenAuthenticator {
  readonly name = 'token-review';
  readonly #reviews: Pick<ClusterReviews, 'reviewToken'>;
  readonly #cache: LookupCache<TokenReview>;
  readonly #keys = new WeakMap<BearerToken, string>();
  /** The tenants of the tokens whose last TokenReview succeeded, by cache key. */
  readonly #tenants: BoundedMap<string, string>;
  /** Salt of the cache keys, so that hashes in a memory dump do not match hashes of the same tokens elsewhere. */
  readonly #salt = randomBytes(32).toString('base64');

  constructor(options: TokenReviewOptions) {
    const { successTtlMs, failureTtlMs, cacheSize = 8192, seats } = options;
    const { monotonic, onLookup } = options;
    this.#tenants = new BoundedMap(cacheSize);
    this.#reviews = options.reviews;
    this.#cache = new LookupCache({
      size: cacheSize,
      ttlMs: ({ user }) => (user ? successTtlMs : failureTtlMs),
      seats,
      signal: options.signal,
      ...(monotonic ? { monotonic } : {}),
      ...(onLookup ? { onLookup } : {}),
    });
  }

  authenticate(token: BearerToken, context: CallContext): Promise<UserInfo> | UserInfo {
    const key = this.#keyOf(token);
    // The tenant, so that invalid tokens of the network cannot delay a valid one, and many tokens of a tenant have one share.
    const caller = this.#tenants.get(key) ?? context.caller;
    const review = this.#cache.get(key, (signal) => this.#review(key, token.text, signal), {
      signal: context.signal,
      caller,
    });
    return review instanceof Promise ? review.then(userOf) : userOf(review);
  }

  #keyOf(token: BearerToken): string {
    let key = this.#keys.get(token);
    if (key === undefined) {
      key = hash('sha256', this.#salt + token.text, 'base64');
      this.#keys.set(token, key);
    }
    return key;
  }

  async #review(key: string, token: string, signal: AbortSignal): Promise<TokenReview> {
    const review = await this.#reviews.reviewToken(token, signal);
    if (review.user) this.#tenants.set(key, `user ${sharerOf(review.user)}`);
    else this.#tenants.delete(key);
    return review;
  }
}

function userOf({ user, error }: TokenReview): UserInfo {
  if (!user)
    throw newUnauthorized(new Error(error === '' ? 'kube-apiserver does not know the token' : error));
  return user;
}
