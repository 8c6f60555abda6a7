// Metrics of authentication and authorization, under the names that Kubernetes uses. Every request is counted here, so
// counting adds to plain numbers; questions to the cluster are rare enough for the library.
import { Counter, Histogram, type Registry } from 'prom-client';

/** How authentication ended: known, refused, or impossible right now. */
export type AuthenticationResult = 'success' | 'failure' | 'error';
export type AuthorizationResult = 'allowed' | 'denied' | 'error';

/** Go's library has these bounds for what it asks kube-apiserver. */
const REVIEW_SECONDS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];

export class AccessMetrics {
  readonly #authentication: Record<AuthenticationResult, number> = { success: 0, failure: 0, error: 0 };
  readonly #authorization: Record<AuthorizationResult, number> = { allowed: 0, denied: 0, error: 0 };
  readonly #lookups = { hit: 0, miss: 0 };
  readonly #reviews: Record<'TokenReview' | 'SubjectAccessReview', ReviewMetrics>;

  constructor(registry: Registry) {
    counted(registry, {
      name: 'authentication_attempts',
      help: 'Requests by what authentication said: `success` (anonymous callers too), `failure` for credentials that are refused, `error` when they could not be checked.',
      label: 'result',
      values: this.#authentication,
    });
    counted(registry, {
      name: 'authorization_attempts_total',
      help: 'Requests by what authorization said: `allowed`, `denied`, `error` when the cluster could not be asked.',
      label: 'result',
      values: this.#authorization,
    });
    counted(registry, {
      name: 'authentication_token_cache_request_total',
      help: 'Bearer tokens looked up among the answers of TokenReviews that are kept.',
      label: 'status',
      values: this.#lookups,
    });
    this.#reviews = {
      TokenReview: reviewMetrics(registry, 'authn', 'TokenReviews'),
      SubjectAccessReview: reviewMetrics(registry, 'authz', 'SubjectAccessReviews'),
    };
  }

  authenticated(result: AuthenticationResult): void {
    this.#authentication[result]++;
  }

  authorized(result: AuthorizationResult): void {
    this.#authorization[result]++;
  }

  /** Whether a token was among the kept answers. */
  tokenLookedUp(hit: boolean): void {
    this.#lookups[hit ? 'hit' : 'miss']++;
  }

  /** One question to kube-apiserver; `code` is the status of its answer, or `<error>` when there was none. */
  reviewed(kind: 'TokenReview' | 'SubjectAccessReview', code: string, seconds: number): void {
    const { requests, durations } = this.#reviews[kind];
    requests.inc({ code });
    durations.observe({ code }, seconds);
  }
}

interface Counted {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  readonly values: Readonly<Record<string, number>>;
}

function counted(registry: Registry, { name, help, label, values }: Counted): void {
  registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [],
      collect() {
        this.reset();
        for (const [value, count] of Object.entries(values)) this.inc({ [label]: value }, count);
      },
    }),
  );
}

interface ReviewMetrics {
  readonly requests: Counter<'code'>;
  readonly durations: Histogram<'code'>;
}

function reviewMetrics(registry: Registry, part: string, reviews: string): ReviewMetrics {
  const shared = { labelNames: ['code'] as const, registers: [registry] };
  return {
    requests: new Counter({
      ...shared,
      name: `apiserver_delegated_${part}_request_total`,
      help: `${reviews} sent to kube-apiserver, by the status of the answer; \`<error>\` when there was none.`,
    }),
    durations: new Histogram({
      ...shared,
      name: `apiserver_delegated_${part}_request_duration_seconds`,
      help: `Time that ${reviews} took, by the status of the answer.`,
      buckets: REVIEW_SECONDS,
    }),
  };
}
