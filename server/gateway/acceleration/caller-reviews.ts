// Reviews the permission of a caller to read from a cache. kube-apiserver itself authenticates the caller: the review is a
// SelfSubjectAccessReview with the token of the caller, so that the decision is the one for the forwarded request.
import { hash } from 'node:crypto';
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { Seats } from '../../admission/seats.ts';
import { rawSelectors, reviewKey } from '../../authorization/access-review.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { CACHED_REVIEWS } from '../../cluster/reviews.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';
import type { ResourceRequest } from '../../request/request-info.ts';

interface CallerReviewsOptions {
  /** A client without credentials. */
  readonly client: Pick<ClusterClient, 'json'>;
  /** TTLs of allowed and denied decisions, in ms. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly seats: Seats;
  readonly signal: AbortSignal;
}

/** Timeout of a review. Without a decision, the gateway forwards the read. */
const TIMEOUT_MS = 1_000;
const PATH = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

export class CallerReviews {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #decisions: LookupCache<boolean>;

  constructor({ client, allowTtlMs, denyTtlMs, seats, signal }: CallerReviewsOptions) {
    this.#client = client;
    this.#decisions = new LookupCache({
      size: CACHED_REVIEWS,
      ttlMs: (allowed) => (allowed ? allowTtlMs : denyTtlMs),
      seats,
      signal,
    });
  }

  /**
   * Returns true if the caller with this `Authorization` header may send the request. Throws StatusError without a
   * decision, for instance if kube-apiserver rejects the token.
   */
  allows(authorization: string, request: ResourceRequest, context: CallContext): Promise<boolean> | boolean {
    const attributes = attributesOf(request);
    const key = reviewKey(JSON.stringify(attributes));
    // The header is a secret, so the key contains its digest.
    const secretKey = key === undefined ? undefined : hash('sha256', authorization, 'base64') + key;
    return this.#decisions.get(
      secretKey,
      (signal) => this.#review(authorization, attributes, signal),
      context,
    );
  }

  async #review(authorization: string, attributes: object, signal: AbortSignal): Promise<boolean> {
    const review = await this.#client.json({
      method: 'POST',
      isRead: true,
      timeoutMs: TIMEOUT_MS,
      path: PATH,
      headers: { authorization },
      json: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: attributes },
      },
      signal,
    });
    const { allowed, denied } = recordIn(review, 'status');
    return allowed === true && denied !== true;
  }
}

/** Returns the attributes by which kube-apiserver would authorize the request itself. */
function attributesOf(request: ResourceRequest): object {
  const { verb, group, version, resource, namespace, name } = request;
  return {
    verb,
    group,
    version,
    resource,
    namespace,
    name,
    ...rawSelectors(request),
  };
}
