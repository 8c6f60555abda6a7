// Client for TokenReviews and SubjectAccessReviews. The client does not cache results.
import { newServiceUnavailable, StatusError } from '../../apis/meta/v1/errors.ts';
import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import type { ClusterClient } from './connection/client.ts';

/** Maximum TTL of failed TokenReviews and of denials, in ms: a new token or permission takes effect after this time. */
export const MAX_REFUSAL_MS = 10_000;

/** Maximum number of cached successful TokenReviews, of SubjectAccessReviews, and of reviews in the name of callers. */
export const CACHED_REVIEWS = 8_192;

/** The TTL of a refusal. `ttl`: that of the other results. */
export function refusalTTL(ttl: number): number {
  return Math.min(ttl, MAX_REFUSAL_MS);
}

interface ReviewedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * The result of a TokenReview. `user` is undefined if the cluster does not authenticate the token; `error` is the
 * reason, or empty.
 */
export interface TokenReview {
  readonly user: ReviewedUser | undefined;
  readonly error: string;
}

export interface AccessReview {
  readonly allowed: boolean;
  readonly reason: string;
}

/** The `spec` of a SubjectAccessReview. */
export interface AccessReviewSpec {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  readonly resourceAttributes?: Readonly<Record<string, string | { readonly rawSelector: string }>>;
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
}

/** Receives the duration of each review. `code`: the HTTP status, or `<error>` without a response. */
interface ReviewObserver {
  reviewed(kind: ReviewKind, code: string, seconds: number): void;
}

type ReviewKind = 'TokenReview' | 'SubjectAccessReview';

/** The HTTP status of a successful review, since the client returns the status of errors only. */
const CREATED = '201';

const TIMEOUT_MS = 10_000;

export class ClusterReviews {
  readonly #client: ClusterClient;
  readonly #observer: ReviewObserver | undefined;

  constructor(client: ClusterClient, observer?: ReviewObserver) {
    this.#client = client;
    this.#observer = observer;
  }

  /**
   * Reviews a token for the default audiences, those of kube-apiserver. Throws ServiceUnavailable if the cluster
   * returns no decision.
   */
  async reviewToken(token: string, signal: AbortSignal): Promise<TokenReview> {
    const status = await this.#review('authentication.k8s.io', 'TokenReview', { token }, signal);
    const error = text(status['error']);
    if (status['authenticated'] !== true) return { user: undefined, error };
    return { user: userOf(record(status['user'])), error };
  }

  /** Reviews a permission. Throws ServiceUnavailable if the cluster returns no decision; it never allows by default. */
  async reviewAccess(spec: AccessReviewSpec, signal: AbortSignal): Promise<AccessReview> {
    const status = await this.#review('authorization.k8s.io', 'SubjectAccessReview', spec, signal);
    if (typeof status['allowed'] !== 'boolean')
      throw unclear('SubjectAccessReview', new Error('no decision'));
    const reason = text(status['reason']);
    return { allowed: status['allowed'] && status['denied'] !== true, reason };
  }

  async #review(
    group: string,
    kind: ReviewKind,
    spec: object,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    using bounded = boundedSignal(signal, TIMEOUT_MS);
    const began = performance.now();
    const observe = (code: string): void =>
      this.#observer?.reviewed(kind, code, (performance.now() - began) / 1000);
    try {
      const answer = await this.#client.json({
        method: 'POST',
        isRead: true,
        path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
        json: { apiVersion: `${group}/v1`, kind, metadata: {}, spec },
        signal: bounded.signal,
        timeoutMs: TIMEOUT_MS,
      });
      observe(CREATED);
      return recordIn(answer, 'status');
    } catch (cause) {
      signal.throwIfAborted();
      observe(cause instanceof StatusError ? String(cause.code) : '<error>');
      // A 403 means that this server lacks permission to create reviews. It is not a decision about the caller.
      throw unclear(kind, cause);
    }
  }
}

function unclear(kind: string, cause: unknown): Error {
  return newServiceUnavailable(`the cluster did not respond to a ${kind}`, 1, { cause });
}

function userOf(user: Readonly<Record<string, unknown>>): ReviewedUser {
  const { username, uid, groups, extra } = user;
  if (typeof username !== 'string' || username === '') {
    throw unclear('TokenReview', new Error('no user name'));
  }
  return {
    name: username,
    uid: text(uid),
    groups: strings(groups),
    extra: Object.fromEntries(Object.entries(record(extra)).map(([key, value]) => [key, strings(value)])),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
