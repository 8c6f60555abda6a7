import { hash } from 'node:crypto';
import { sharerOf, type UserInfo } from '../authentication/user.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { AccessReview, AccessReviewSpec, ClusterReviews } from '../cluster/reviews.ts';
import { LookupCache } from '../memory/lookup-cache.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';

export interface AccessReviewOptions {
  readonly reviews: Pick<ClusterReviews, 'reviewAccess'>;
  /** How long a yes and a no are kept, in ms. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly cacheSize?: number;
  readonly maxPending?: number;
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Verbs for which a right without a name covers every name. */
const READ_ONE = new Set(['get', 'list', 'watch']);

/** Asks the cluster, and keeps its answers for seconds. Throws ServiceUnavailable when it gives none. */
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
      // All anonymous callers count as one: whoever makes up paths must not use up the questions that others may ask.
      maxPendingOfOne: Math.ceil(maxPending / 2),
      signal: options.signal,
      ...(monotonic ? { monotonic } : {}),
    });
  }

  /**
   * For a read of one object the right to read all of them is asked for first (a review without a name means all
   * names): most callers have it, and then thousands of objects cost one review, not one each.
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

// Two JSON texts in a row are unambiguous, whatever the names in them contain.
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

/** Enough for most callers: making a digest takes longer than looking up a text of this length. */
const SHORT = 1024;
/** A caller who sends more than this in one question is answered, but not remembered. */
const LONGEST = 16 * 1024;

/**
 * The key of an answer: the question itself, or its digest when it is long, since anybody can ask for long paths and fill
 * the cache with them. Undefined when the answer is not to be kept.
 */
export function reviewKey(question: string): string | undefined {
  if (question.length <= SHORT) return question;
  return question.length <= LONGEST ? hash('sha256', question, 'base64') : undefined;
}
