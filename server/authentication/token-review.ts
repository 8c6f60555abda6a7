// Authenticator that sends bearer tokens as TokenReviews to kube-apiserver, with a cache.

import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { Seats } from '../admission/seats.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { CACHED_REVIEWS, type ClusterReviews, type TokenReview } from '../cluster/reviews.ts';
import { LookupCache } from '../memory/lookup-cache.ts';
import type { BearerToken, TokenAuthenticator } from './authenticator.ts';
import { type UserInfo, userCaller } from './user.ts';

interface TokenReviewOptions {
  readonly reviews: Pick<ClusterReviews, 'reviewToken'>;
  /** TTL of successful TokenReviews, in ms. */
  readonly successTtlMs: number;
  /** TTL of failed TokenReviews, in ms. */
  readonly failureTtlMs: number;
  /** Maximum number of cached successful TokenReviews. */
  readonly cacheSize?: number;
  /** The seats of pending TokenReviews. */
  readonly seats: Seats;
  readonly onLookup?: (hit: boolean) => void;
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Maximum number of cached failed TokenReviews. */
const REJECTED = 1_024;

/** Authenticates ServiceAccount tokens, and all other tokens that kube-apiserver accepts. */
export class TokenReviewAuthenticator implements TokenAuthenticator {
  readonly name = 'token-review';
  readonly #reviews: Pick<ClusterReviews, 'reviewToken'>;
  readonly #onLookup: ((hit: boolean) => void) | undefined;
  /** Successful TokenReviews. */
  readonly #cache: LookupCache<TokenReview>;
  /** The errors of failed TokenReviews, apart from the successful ones: anyone can send any number of invalid tokens. */
  readonly #rejected: LRUCache<string, string>;
  readonly #keys = new WeakMap<BearerToken, string>();
  /** Salt of the cache keys, so that hashes in a memory dump do not match hashes of the same tokens elsewhere. */
  readonly #salt = randomBytes(32).toString('base64');

  constructor(options: TokenReviewOptions) {
    const { successTtlMs, failureTtlMs, cacheSize = CACHED_REVIEWS, seats } = options;
    const { monotonic = () => performance.now(), onLookup } = options;
    this.#reviews = options.reviews;
    this.#onLookup = onLookup;
    this.#rejected = new LRUCache({
      max: REJECTED,
      // At least a moment, because a TTL of 0 means that entries do not expire.
      ttl: Math.max(1, failureTtlMs),
      ttlResolution: 0,
      perf: { now: monotonic },
    });
    this.#cache = new LookupCache({
      size: cacheSize,
      // At least a moment, because an expired result still names the tenant.
      ttlMs: ({ user }) => (user ? Math.max(1, successTtlMs) : 0),
      ownerOf: ({ user }) => (user ? userCaller(user) : ''),
      seats,
      signal: options.signal,
      monotonic,
      ...(onLookup ? { onLookup } : {}),
    });
  }

  authenticate(token: BearerToken, context: CallContext): Promise<UserInfo> | UserInfo {
    const key = this.#keyOf(token);
    const error = this.#rejected.get(key);
    if (error !== undefined) {
      this.#onLookup?.(true);
      throw rejected(error);
    }
    // The tenant, so that invalid tokens of the network cannot delay a valid one, and many tokens of a tenant have one share.
    const user = this.#cache.last(key)?.user;
    const caller = user ? userCaller(user) : context.caller;
    const ask = (signal: AbortSignal): Promise<TokenReview> => this.#review(key, token.text, signal);
    const review = this.#cache.get(key, ask, context, caller);
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
    if (!review.user) this.#rejected.set(key, review.error);
    return review;
  }
}

function userOf({ user, error }: TokenReview): UserInfo {
  if (!user) throw rejected(error);
  return user;
}

function rejected(error: string): Error {
  return newUnauthorized(new Error(error === '' ? 'kube-apiserver does not know the token' : error));
}
