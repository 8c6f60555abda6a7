// Authorizer that sends SubjectAccessReviews to kube-apiserver. Decisions are cached for seconds.
import { hash } from 'node:crypto';
import type { Seats } from '../admission/seats.ts';
import { type UserInfo, userCaller } from '../authentication/user.ts';
import type { CallContext } from '../cluster/call-context.ts';
import {
  type AccessReview,
  type AccessReviewSpec,
  CACHED_REVIEWS,
  type ClusterReviews,
} from '../cluster/reviews.ts';
import { LookupCache } from '../memory/lookup-cache.ts';
import type { Attributes, Authorizer, Decision, ResourceAttributes } from './authorizer.ts';

interface AccessReviewOptions {
  readonly reviews: Pick<ClusterReviews, 'reviewAccess'>;
  /** TTLs of allowed and denied decisions, in ms. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly cacheSize?: number;
  /** The seats of pending reviews. */
  readonly seats: Seats;
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Verbs for which the permission without a name and selectors includes every name and selector. */
const READS = new Set(['get', 'list', 'watch']);

/** The objects of a request, in one namespace or in all. */
type Selected = Pick<ResourceAttributes, 'name' | 'labelSelector' | 'fieldSelector'>;

const ALL: Selected = { name: '' };

/** The part of a user in cache keys, and the caller. */
interface UserKey {
  readonly digest: string;
  readonly caller: string;
}

/** An authorizer that creates SubjectAccessReviews. Throws ServiceUnavailable if the cluster returns no decision. */
export class AccessReviewAuthorizer implements Authorizer {
  readonly #reviews: Pick<ClusterReviews, 'reviewAccess'>;
  readonly #cache: LookupCache<AccessReview>;
  readonly #userKeys = new WeakMap<UserInfo, UserKey>();

  constructor(options: AccessReviewOptions) {
    const { allowTtlMs, denyTtlMs, seats, monotonic } = options;
    this.#reviews = options.reviews;
    this.#cache = new LookupCache({
      size: options.cacheSize ?? CACHED_REVIEWS,
      ttlMs: ({ allowed }) => (allowed ? allowTtlMs : denyTtlMs),
      seats,
      signal: options.signal,
      ...(monotonic ? { monotonic } : {}),
    });
  }

  /**
   * Authorizes a request. For a read of one object, and for a list with selectors, it first reviews the permission for
   * all objects. Most callers have this permission, so reads of thousands of objects need one review.
   */
  authorize(attributes: Attributes, context: CallContext): Promise<Decision> | Decision {
    if ('path' in attributes) return this.#ask(attributes, ALL, context);
    const { name, verb, labelSelector = '', fieldSelector = '' } = attributes;
    const isGeneral = name === '' && labelSelector === '' && fieldSelector === '';
    if (isGeneral || !READS.has(verb)) return this.#ask(attributes, attributes, context);
    const all = this.#ask(attributes, ALL, context);
    if (!(all instanceof Promise)) return all.allowed ? all : this.#ask(attributes, attributes, context);
    return all.then((decision) => (decision.allowed ? decision : this.#ask(attributes, attributes, context)));
  }

  /** `selected`: replaces the name and the selectors in `attributes`. */
  #ask(attributes: Attributes, selected: Selected, context: CallContext): Promise<Decision> | Decision {
    const { digest, caller } = this.#userKey(attributes.user);
    const key = reviewKey(digest + requestKey(attributes, selected));
    const ask = (signal: AbortSignal): Promise<AccessReview> =>
      this.#reviews.reviewAccess(specOf(attributes, selected), signal);
    return this.#cache.get(key, ask, context, context.caller ?? caller);
  }

  #userKey(user: UserInfo): UserKey {
    let key = this.#userKeys.get(user);
    if (key === undefined) {
      const text = JSON.stringify([user.name, user.uid, user.groups, Object.entries(user.extra)]);
      // A digest, because each request hashes the whole key to look it up, and a user may have many groups.
      key = { digest: hash('sha256', text, 'base64'), caller: userCaller(user) };
      this.#userKeys.set(user, key);
    }
    return key;
  }
}

// The key of a request. A concatenation of JSON texts is unambiguous.
function requestKey(attributes: Attributes, selected: Selected): string {
  if ('path' in attributes) return JSON.stringify([attributes.verb, attributes.path]);
  const { verb, group, version, resource, subresource, namespace } = attributes;
  const { name, labelSelector, fieldSelector } = selected;
  const selectors = labelSelector || fieldSelector ? [labelSelector, fieldSelector] : [];
  return JSON.stringify([verb, group, version, resource, subresource, namespace, name, ...selectors]);
}

function specOf(attributes: Attributes, selected: Selected): AccessReviewSpec {
  const { user, verb } = attributes;
  const who = { user: user.name, uid: user.uid, groups: user.groups, extra: user.extra };
  if ('path' in attributes) return { ...who, nonResourceAttributes: { path: attributes.path, verb } };
  const { group, version, resource, subresource, namespace } = attributes;
  const { name } = selected;
  return {
    ...who,
    resourceAttributes: {
      verb,
      group,
      version,
      resource,
      subresource,
      namespace,
      name,
      ...rawSelectors(selected),
    },
  };
}

/**
 * Returns the selectors as attributes of a review. kube-apiserver parses them for its authorizers (KEP-4601); an earlier
 * version ignores them, as for the request itself.
 */
export function rawSelectors({
  labelSelector,
  fieldSelector,
}: Pick<Selected, 'labelSelector' | 'fieldSelector'>): Readonly<Record<string, { rawSelector: string }>> {
  return {
    ...(labelSelector ? { labelSelector: { rawSelector: labelSelector } } : {}),
    ...(fieldSelector ? { fieldSelector: { rawSelector: fieldSelector } } : {}),
  };
}

/** Maximum length of attributes that are the key themselves. Up to this length, hashing costs more than a lookup. */
const MAX_PLAIN_KEY = 1024;
/** Maximum length of attributes whose decision is cached. */
const MAX_HASHED_KEY = 16 * 1024;

/**
 * Returns the cache key of a review: the attributes, or their digest if they are long. Undefined if the attributes are
 * too long to be cached, since any caller can request long paths.
 */
export function reviewKey(attributesText: string): string | undefined {
  if (attributesText.length <= MAX_PLAIN_KEY) return attributesText;
  return attributesText.length <= MAX_HASHED_KEY ? hash('sha256', attributesText, 'base64') : undefined;
}
