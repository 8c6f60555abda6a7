// Authorization by SubjectAccessReviews of kube-apiserver, cached for seconds.
import { hash } from 'node:crypto';
import { sharerOf, type UserInfo } from '../authentication/user.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { AccessReview, AccessReviewSpec, ClusterReviews } from '../cluster/reviews.ts';
import { LookupCache } from '../memory/lookup-cache.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';

export interface AccessReviewOptions {
  readonly reviews: Pick<ClusterReviews, 'reviewAccess'>;
  /** TTLs of allowed and denied decisions, in ms. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly cacheSize?: number;
  readonly maxPending?: number;
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Verbs for which a permission without a name covers every name. */
const READ_ONE = new Set(['get', 'list', 'watch']);

/** Authorizes by SubjectAccessReview. Throws ServiceUnavailable without a decision. */
export class AccessReviewAuthorizer implements Authorizer {
  readonly #reviews: Pick<ClusterReviews, 'reviewAccess'>;
  readonly #cache: LookupCache<AccessReview>;
  readonly #userKeys = new WeakMap<UserInfo, string>();

  constructor(options: AccessReviewOptions) {
    const { allowTtlMs, denyTtlMs, maxPending = 400, monotonic } = options;
    this.#reviews = options.reviews;
    this.#cache = new LookupCache({
      size: options.cacheSize ?? 8192,
      ttlMs: ({ allowed }) => (allowed ? allowTtlMs : denyTtlMs),
      maxPending,
      // All anonymous callers share one quota: requests for invented paths must not use up the reviews of others.
      maxPendingOfOne: Math.ceil(maxPending / 2),
      signal: options.signal,
      ...(monotonic ? { monotonic } : {}),
    });
  }

  /**
   * For a read of one object, the permission for all names is reviewed first: most callers have it, and thousands of
   * objects then cost one review.
   */
  authorize(attributes: Attributes, context: CallContext): Promise<Decision> | Decision {
    if ('path' in attributes || attributes.name === '' || !READ_ONE.has(attributes.verb)) {
      return this.#ask(attributes, context);
    }
    const all = this.#ask({ ...attributes, name: '' }, context);
    if (!(all instanceof Promise)) return all.allowed ? all : this.#ask(attributes, context);
    return all.then((decision) => (decision.allowed ? decision : this.#ask(attributes, context)));
  }

  #ask(attributes: Attributes, context: CallContext): Promise<Decision> | Decision {
    const key = reviewKey(this.#userKey(attributes.user) + requestKey(attributes));
    const ask = (signal: AbortSignal): Promise<AccessReview> =>
      this.#reviews.reviewAccess(specOf(attributes), signal);
    return this.#cache.get(key, ask, context, sharerOf(attributes.user));
  }

  #userKey(user: UserInfo): string {
    let key = this.#userKeys.get(user);
    if (key === undefined) {
      key = JSON.stringify([user.name, user.uid, user.groups, Object.entries(user.extra)]);
      this.#userKeys.set(user, key);
    }
    return key;
  }
}

// Concatenated JSON texts are unambiguous.
function requestKey(attributes: Attributes): string {
  if ('path' in attributes) return JSON.stringify([attributes.verb, attributes.path]);
  const { verb, group, version, resource, subresource, namespace, name } = attributes;
  return JSON.stringify([verb, group, version, resource, subresource, namespace, name]);
}

function specOf(attributes: Attributes): AccessReviewSpec {
  const { user, verb } = attributes;
  const who = { user: user.name, uid: user.uid, groups: user.groups, extra: user.extra };
  if ('path' in attributes) return { ...who, nonResourceAttributes: { path: attributes.path, verb } };
  const { group, version, resource, subresource, namespace, name } = attributes;
  return { ...who, resourceAttributes: { verb, group, version, resource, subresource, namespace, name } };
}

/** Long enough for most callers: hashing costs more than looking up a text of this length. */
const MAX_PLAIN_KEY = 1024;
/** Decisions for longer attributes are not cached. */
const MAX_HASHED_KEY = 16 * 1024;

/**
 * The cache key: the attributes themselves, or their digest if they are long, since any caller can request long
 * paths. Undefined if the decision is not cached.
 */
export function reviewKey(attributesText: string): string | undefined {
  if (attributesText.length <= MAX_PLAIN_KEY) return attributesText;
  return attributesText.length <= MAX_HASHED_KEY ? hash('sha256', attributesText, 'base64') : undefined;
}
