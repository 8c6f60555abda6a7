// Prometheus metrics of authentication and authorization, with the names of kube-apiserver's metrics.
import { Counter, Histogram, type Registry } from 'prom-client';

/** `success`: a user or anonymous. `failure`: invalid credentials. `error`: the server could not check the credentials. */
export type AuthenticationResult = 'success' | 'failure' | 'error';
export type AuthorizationResult = 'allowed' | 'denied' | 'error';

/** Histogram buckets of delegated reviews, as in Kubernetes. */
const REVIEW_SECONDS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];

/**
 * For speed, a request only increments plain numbers; prom-client reads the numbers at a scrape. TokenReviews and
 * SubjectAccessReviews are rare, so their metrics use prom-client directly.
 */
export class AccessMetrics {
  readonly #authentication: Record<AuthenticationResult, number> = { success: 0, failure: 0, error: 0 };
  readonly #authorization: Record<AuthorizationResult, number> = { allowed: 0, denied: 0, error: 0 };
  readonly #lookups = { hit: 0, miss: 0 };
  readonly #reviews: Record<'TokenReview' | 'SubjectAccessReview', ReviewMetrics>;

  constructor(registry: Registry) {
    counted(registry, {
      name: 'authentication_attempts',
      help: 'Requests by result: `success` (also anonymous), `failure` (invalid credentials), `error` (the credentials could not be checked).',
      label: 'result',
      values: this.#authentication,
    });
    counted(registry, {
      name: 'authorization_attempts_total',
      help: 'Requests by result: `allowed`, `denied`, `error` (no decision).',
      label: 'result',
      values: this.#authorization,
    });
    counted(registry, {
      name: 'authentication_token_cache_request_total',
      help: 'Lookups in the cache of TokenReviews: `hit` or `miss`.',
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

  tokenLookedUp(hit: boolean): void {
    this.#lookups[hit ? 'hit' : 'miss']++;
  }

  /** Records one review; `code` is the status of the response, or `<error>` without one. */
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
      help: `${reviews}, by status code, or \`<error>\` without a response.`,
    }),
    durations: new Histogram({
      ...shared,
      name: `apiserver_delegated_${part}_request_duration_seconds`,
      help: `Duration of ${reviews}, by status code.`,
      buckets: REVIEW_SECONDS,
    }),
  };
}
